//! Adds particles to a band of rows of pixels, in lanes of eight pixels.

use std::ops::Range;

use fearless_simd::{Simd, f64x8};

use super::interpolate::Samples;
use super::profile::Profile;
use super::raster::View;
use crate::pair::Kernel;
use crate::simd::real::Real;
use crate::simd::{Lanes, Task};
use crate::space::{Boundary, SimulationBox};

/// Pixels in a vector.
pub(super) const LANES: usize = 8;

/// Evaluations that one image of a particle costs at least.
const IMAGE_COST: f64 = 8.0;

/// Smoothing lengths below this one are points: 1 / h^3 would overflow.
const LEAST_LENGTH: f64 = 1e-100;

/// Particles whose support is wider than this number of pixels are sampled well enough that the sum over the
/// pixels is the integral.
const WELL_SAMPLED: f64 = 8.0;

/// The particles, and the pixels that see them.
pub(super) struct Scene<'a> {
    samples: &'a Samples<'a>,
    view: &'a View,
    profile: Profile,
    /// Columns of the positions: horizontal, vertical, along the line of sight.
    position: [&'a [f64]; 3],
    /// Periods in these directions; 0 if open.
    period: [f64; 3],
    pixel: [f64; 2],
    /// Least smoothing length.
    least: f64,
}

/// A particle as the pixels see it: one of its images.
struct Disk {
    center: [f64; 2],
    /// Squared distance from the plane; 0 in projections.
    away2: f64,
    /// Radius of the support.
    radius: f64,
    /// u per squared distance.
    scale: f64,
    /// Factor of the profile.
    peak: f64,
    value: f64,
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        samples: &'a Samples<'a>,
        kernel: Kernel<f64>,
        bx: &SimulationBox,
        view: &'a View,
    ) -> Self {
        let slice = view.plane.is_some();
        let [across, up] = view.directions();
        let dimensions = [across, up, view.axis];
        let period = |d: usize| match bx.boundary[d] {
            // a projection has the depth of the box
            Boundary::Periodic if d != view.axis || slice => bx.lengths()[d],
            _ => 0.0,
        };
        let pixel = view.pixel();
        Self {
            samples,
            view,
            profile: if slice { Profile::Value(kernel) } else { Profile::column(kernel) },
            position: dimensions.map(|d| samples.position[d]),
            period: dimensions.map(period),
            pixel,
            least: if slice { 0.0 } else { pixel[0].max(pixel[1]) },
        }
    }

    /// Smoothing length of a particle.
    #[inline(always)]
    fn smoothing_length(&self, row: usize) -> f64 {
        self.samples.smoothing_length[row].max(self.least)
    }

    /// Range that supports must touch in a direction: the side of the rectangle, or the plane. `None` along
    /// the line of sight of a projection.
    #[inline(always)]
    fn side(&self, direction: usize) -> Option<(f64, f64)> {
        match direction {
            0 | 1 => Some(self.view.extent[direction]),
            _ => self.view.plane.map(|plane| (plane, plane)),
        }
    }

    /// First and last number of the periodic images that touch a range in a direction; none if the last is
    /// below the first.
    #[inline(always)]
    fn images(&self, direction: usize, row: usize, radius: f64, side: (f64, f64)) -> (f64, f64) {
        let (at, period) = (self.position[direction][row], self.period[direction]);
        let (first, last) = (side.0 - radius - at, side.1 + radius - at);
        if period > 0.0 {
            return ((first / period).ceil(), (last / period).floor());
        }
        if first <= 0.0 && last >= 0.0 { (0.0, 0.0) } else { (0.0, -1.0) }
    }

    /// Approximate number of evaluations for a particle.
    pub(super) fn cost(&self, row: usize) -> f64 {
        let radius = Kernel::SUPPORT * self.smoothing_length(row);
        let (mut images, mut covered) = (1.0, 1.0);
        for direction in 0..3 {
            let Some(side) = self.side(direction) else { continue };
            let (first, last) = self.images(direction, row, radius, side);
            images *= (last - first + 1.0).max(0.0);
            if direction < 2 {
                let pixels = self.view.pixels[direction] as f64;
                covered *= (2.0 * radius / self.pixel[direction] + 1.0).min(pixels);
            }
        }
        // column_factor also sums over the pixels of a small support
        let normalization: f64 = match self.normalizes(radius) {
            true => self.pixel.map(|edge| 2.0 * radius / edge + 5.0).iter().product(),
            false => 0.0,
        };
        images * (covered + normalization + IMAGE_COST)
    }

    /// Place of a coordinate in pixels: 0 is the center of the first one.
    #[inline(always)]
    fn place(&self, direction: usize, coordinate: f64) -> f64 {
        (coordinate - self.view.extent[direction].0) / self.pixel[direction] - 0.5
    }

    /// Whether a support of this radius covers so few pixels of a projection that it is normalized on them.
    #[inline(always)]
    fn normalizes(&self, radius: f64) -> bool {
        self.view.plane.is_none() && radius <= WELL_SAMPLED * self.pixel[0].max(self.pixel[1])
    }

    /// Normalization in a projection: 1 / h^2; for supports of few pixels the discrete one, so that the sum
    /// over the pixels, also those beyond the rectangle, times the area of a pixel is 1.
    #[inline(always)]
    fn column_factor(&self, center: [f64; 2], h: f64) -> f64 {
        let radius = Kernel::SUPPORT * h;
        let [across, up] = self.pixel;
        if !self.normalizes(radius) {
            return 1.0 / (h * h);
        }
        let nearest = |direction: usize| {
            let place = self.place(direction, center[direction]);
            (place.floor() - place, (radius / self.pixel[direction]).ceil() as i64 + 1)
        };
        let ((right, columns), (above, rows)) = (nearest(0), nearest(1));
        let mut sum = 0.0;
        for j in -rows..=rows {
            let y = (above + j as f64) * up;
            for i in -columns..=columns {
                let x = (right + i as f64) * across;
                sum += self.profile.at((x * x + y * y) / (h * h));
            }
        }
        1.0 / (sum * across * up)
    }
}

/// Pixels from `first` to before `end` that are nearer than `reach` to `at`, in pixels.
#[inline(always)]
fn covered(at: f64, reach: f64, first: usize, end: usize) -> Range<usize> {
    let from = (at - reach).ceil().max(first as f64).min(end as f64) as usize;
    let to = ((at + reach).floor() + 1.0).max(from as f64).min(end as f64) as usize;
    from..to
}

/// A band of rows: adds all particles in their order.
pub(super) struct Band<'a, 'b> {
    pub scene: &'a Scene<'a>,
    /// First row.
    pub first: usize,
    /// Length of a row in `weights` and `sums`, a multiple of [`LANES`].
    pub stride: usize,
    /// Sums of w_j W.
    pub weights: &'b mut [f64],
    /// Sums of w_j A_j W; empty without values.
    pub sums: &'b mut [f64],
}

impl Task for Band<'_, '_> {
    type Output = ();
    type Scalar = f64;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        for row in 0..self.scene.samples.weight.len() {
            self.add(simd, row);
        }
    }
}

impl Band<'_, '_> {
    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, row: usize) {
        let scene = self.scene;
        let (weight, h) = (scene.samples.weight[row], scene.smoothing_length(row));
        // nothing to add, or only at a point
        if weight == 0.0 || h < LEAST_LENGTH {
            return;
        }
        let radius = Kernel::SUPPORT * h;
        let rows = self.weights.len() / self.stride;
        let lowest = scene.view.extent[1].0 + self.first as f64 * scene.pixel[1];
        let band = (lowest, lowest + rows as f64 * scene.pixel[1]);
        let ups = scene.images(1, row, radius, band);
        if ups.0 > ups.1 {
            return;
        }
        let depths = match scene.side(2) {
            Some(plane) => scene.images(2, row, radius, plane),
            None => (0.0, 0.0),
        };
        if depths.0 > depths.1 {
            return;
        }
        let acrosses = scene.images(0, row, radius, scene.view.extent[0]);
        let value = match scene.samples.value {
            Some(values) => values[row],
            None => 0.0,
        };
        for depth in depths.0 as i64..=depths.1 as i64 {
            let away = match scene.view.plane {
                Some(plane) => scene.position[2][row] + depth as f64 * scene.period[2] - plane,
                None => 0.0,
            };
            for up in ups.0 as i64..=ups.1 as i64 {
                let y = scene.position[1][row] + up as f64 * scene.period[1];
                for across in acrosses.0 as i64..=acrosses.1 as i64 {
                    let center = [scene.position[0][row] + across as f64 * scene.period[0], y];
                    let peak = match scene.view.plane {
                        Some(_) => weight / (h * h * h),
                        None => weight * scene.column_factor(center, h),
                    };
                    let scale = 1.0 / (h * h);
                    self.add_disk(simd, &Disk { center, away2: away * away, radius, scale, peak, value });
                }
            }
        }
    }

    #[inline(always)]
    fn add_disk<S: Simd>(&mut self, simd: S, disk: &Disk) {
        let scene = self.scene;
        let (width, rows) = (scene.view.pixels[0], self.weights.len() / self.stride);
        let of = |value: f64| f64x8::literal(simd, value);
        let steps: [f64; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let steps = f64x8::load(simd, &steps) * of(scene.pixel[0]);
        let (scale, peak) = (of(disk.scale), of(disk.peak));
        let place = [0, 1].map(|direction| scene.place(direction, disk.center[direction]));
        // also if it is not a number
        let reach2 = disk.radius * disk.radius - disk.away2;
        if reach2.is_nan() || reach2 <= 0.0 {
            return;
        }
        // the same pixels in all rows, a square: the number of vectors is then predictable, and a row needs
        // no root
        let reach = [0, 1].map(|direction| reach2.sqrt() / scene.pixel[direction]);
        let columns = covered(place[0], reach[0], 0, width);
        let columns = columns.start / LANES * LANES..columns.end;
        for row in covered(place[1], reach[1], self.first, self.first + rows) {
            let y = (row as f64 - place[1]) * scene.pixel[1];
            let beside2 = of(y * y + disk.away2);
            let line = (row - self.first) * self.stride;
            // whole vectors: the profile is zero beyond the support, and rows have room at their ends
            for column in columns.clone().step_by(LANES) {
                let x = of((column as f64 - place[0]) * scene.pixel[0]) + steps;
                let u = Real::mul_add(x, x, beside2) * scale;
                let share = scene.profile.at(u) * peak;
                let cells = line + column..line + column + LANES;
                let weights = &mut self.weights[cells.clone()];
                (f64x8::load(simd, weights) + share).store(weights);
                if !self.sums.is_empty() {
                    let sums = &mut self.sums[cells];
                    Real::mul_add(share, of(disk.value), f64x8::load(simd, sums)).store(sums);
                }
            }
        }
    }
}
