//! SPH interpolation onto the pixels of a plane.

use rayon::prelude::*;

use super::band::{Band, LANES, Scene};
use super::raster::{Raster, View};
use crate::pair::Kernel;
use crate::simd::{Instructions, dispatch};
use crate::space::SimulationBox;
use crate::{Error, Result};

/// Most evaluations of the kernel for one map, several minutes on one core: a projection of a billion
/// particles with 200 neighbors at 800 pixels needs about half of it.
const MAX_EVALUATIONS: f64 = 3e11;

/// The particles of a map, one entry per particle in each column.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Positions, per dimension.
    pub position: [&'a [f64]; 3],
    /// Smoothing lengths h; the support of the kernel is 2h.
    pub smoothing_length: &'a [f64],
    /// Weights w >= 0: masses for a density; for a mean, volumes in a slice and masses in a projection.
    pub weight: &'a [f64],
    /// Values A of a mean; `None` for the sum of the weights.
    pub value: Option<&'a [f64]>,
}

/// Interpolates onto the centers of the pixels of a view. With W the kernel, in projections its integral
/// along the line of sight:
///
/// - without values the sum of w_j W(r_j, h_j): a density, or a column density;
/// - with values the mean, the sum of w_j A_j W over the sum of w_j W (Shepard 1968).
///
/// Every periodic image counts. A projection through a periodic box has the length of the box. In projections
/// h is at least the edge of a pixel, and particles that cover few pixels are normalized on them, so that no
/// mass is lost between the pixels.
///
/// Bands of rows are computed in parallel, each with all particles in their order: the result has the same
/// bits for any number of threads. Beside the columns only the pixels need memory.
///
/// # Errors
/// [`Error::State`] if the smoothing lengths are so large that the map would take too long.
pub fn interpolate(
    samples: &Samples,
    kernel: Kernel<f64>,
    bx: &SimulationBox,
    view: &View,
) -> Result<Raster> {
    let [width, height] = view.pixels;
    let scene = Scene::new(samples, kernel, bx, view);
    let cost: f64 = (0..samples.weight.len()).into_par_iter().map(|row| scene.cost(row)).sum();
    if cost.is_nan() || cost > MAX_EVALUATIONS {
        let longest = samples.smoothing_length.iter().copied().fold(0.0, f64::max);
        return Err(Error::State {
            step: 0,
            what: format!(
                "a map of {width} x {height} pixels would need {cost:.1e} evaluations of the kernel; the \
                 largest smoothing length is {longest:e}"
            ),
            remedy: "check the smoothing lengths, or draw fewer pixels or another view".into(),
        });
    }
    let mut values = vec![0.0; width * height];
    let rows = height.div_ceil(4 * rayon::current_num_threads()).max(1);
    let stride = width.next_multiple_of(LANES);
    values.par_chunks_mut((rows * width).max(1)).enumerate().for_each(|(number, values)| {
        let cells = values.len() / width * stride;
        let mut weights = vec![0.0; cells];
        let mut sums = vec![0.0; if samples.value.is_some() { cells } else { 0 }];
        let (scene, first) = (&scene, number * rows);
        dispatch(Instructions::Best, Band { scene, first, stride, weights: &mut weights, sums: &mut sums });
        for (k, value) in values.iter_mut().enumerate() {
            let cell = k / width * stride + k % width;
            *value = match weights[cell] {
                0.0 => f64::NAN,
                weight if sums.is_empty() => weight,
                weight => sums[cell] / weight,
            };
        }
    });
    Ok(Raster { values, pixels: view.pixels, extent: view.extent })
}
