//! Spreading and interpolation in double precision, one particle and one mesh point after the other: the
//! reference for all faster forms.

use super::window::MOST_ORDER;
use super::{MeshGeometry, Window};

/// Points and weights of one particle in one dimension.
struct Stencil {
    points: [usize; MOST_ORDER],
    weights: [f64; MOST_ORDER],
    /// Derivatives of the weights with respect to the coordinate.
    slopes: [f64; MOST_ORDER],
}

impl Stencil {
    fn of(geometry: &MeshGeometry, window: &Window, dimension: usize, coordinate: f64) -> Self {
        let (cell, fraction) = geometry.locate(dimension, coordinate);
        let (weights, slopes) = window.weights(fraction);
        let (order, count) = (window.order(), geometry.points[dimension]);
        assert!(count >= order, "a mesh of {count} points is smaller than a window of {order}");
        let mut points = [0; MOST_ORDER];
        for k in 0..order {
            points[k] = (cell + count + 1 + k - order) % count;
        }
        Stencil { points, weights, slopes: slopes.map(|slope| slope * geometry.scale[dimension]) }
    }
}

/// Calls `visit` for every mesh point of a particle: its index, and its weight and the weight's gradient.
fn visit(
    geometry: &MeshGeometry,
    window: &Window,
    position: [f64; 3],
    mut visit: impl FnMut(usize, [f64; 4]),
) {
    let [x, y, z] = [0, 1, 2].map(|d| Stencil::of(geometry, window, d, position[d]));
    let order = window.order();
    for i in 0..order {
        for j in 0..order {
            for k in 0..order {
                let row = x.points[i] * geometry.points[1] + y.points[j];
                let weight = [
                    x.weights[i] * y.weights[j] * z.weights[k],
                    x.slopes[i] * y.weights[j] * z.weights[k],
                    x.weights[i] * y.slopes[j] * z.weights[k],
                    x.weights[i] * y.weights[j] * z.slopes[k],
                ];
                visit(row * geometry.points[2] + z.points[k], weight);
            }
        }
    }
}

/// Spreads the values of particles onto the mesh: the sum of value times weight at every mesh point (Essmann
/// et al. 1995, J. Chem. Phys. 103, 8577, equation 4.6).
///
/// # Panics
/// If a dimension has fewer points than the window's order.
pub fn spread(geometry: &MeshGeometry, window: &Window, positions: [&[f64]; 3], values: &[f64]) -> Vec<f64> {
    let mut mesh = vec![0.0; geometry.len()];
    for (k, value) in values.iter().enumerate() {
        let position = positions.map(|column| column[k]);
        visit(geometry, window, position, |point, weight| mesh[point] += weight[0] * value);
    }
    mesh
}

/// Interpolates the mesh at positions: the sum of mesh value times weight, and its derivatives with respect to
/// x, y and z in units of mesh value per length.
///
/// # Panics
/// If a dimension has fewer points than the window's order.
pub fn interpolate(
    geometry: &MeshGeometry,
    window: &Window,
    mesh: &[f64],
    positions: [&[f64]; 3],
) -> Vec<[f64; 4]> {
    let at = |k: usize| {
        let mut sums = [0.0; 4];
        visit(geometry, window, positions.map(|column| column[k]), |point, weight| {
            for (sum, weight) in sums.iter_mut().zip(weight) {
                *sum += weight * mesh[point];
            }
        });
        sums
    };
    (0..positions[0].len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far::mesh::window::ORDERS;

    /// One particle on a mesh point: its weights are the window at integers, at the points around it.
    #[test]
    fn a_particle_on_a_mesh_point_spreads_onto_the_points_before_it() {
        let geometry = MeshGeometry { points: [8, 9, 10], lower: [1.0, 2.0, 3.0], scale: [2.0, 1.0, 0.5] };
        let window = Window::b_spline(4);
        let mesh = spread(&geometry, &window, [&[1.5], &[2.0], &[21.0]], &[6.0]);
        for (k, weight) in [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0, 0.0].into_iter().enumerate() {
            let (x, y, z) = ((6 + k) % 8, (6 + k) % 9, (6 + k) % 10);
            assert!((mesh[(x * 9 + 7) * 10 + 7] - weight * 6.0 * 4.0 / 9.0).abs() < 1e-15);
            assert!((mesh[(7 * 9 + y) * 10 + 7] - weight * 6.0 * 4.0 / 9.0).abs() < 1e-15);
            assert!((mesh[(7 * 9 + 7) * 10 + z] - weight * 6.0 * 4.0 / 9.0).abs() < 1e-15);
        }
        assert!((mesh.iter().sum::<f64>() - 6.0).abs() < 1e-14);
    }

    #[test]
    fn the_gradient_is_the_finite_difference_of_the_potential() {
        let geometry = MeshGeometry { points: [8, 9, 11], lower: [0.0; 3], scale: [2.0, 1.0, 0.5] };
        let mesh: Vec<f64> = (0..geometry.len()).map(|k| (k as f64 * 0.7).sin()).collect();
        for order in ORDERS {
            let window = Window::b_spline(order);
            let at = |[x, y, z]: [f64; 3]| interpolate(&geometry, &window, &mesh, [&[x], &[y], &[z]])[0];
            for position in [[0.3, 8.9, 20.0], [3.99, 0.01, 1.1], [2.2, 4.4, 7.7]] {
                let [_, gradient @ ..] = at(position);
                for d in 0..3 {
                    let moved = |by: f64| {
                        let mut moved = position;
                        moved[d] += by;
                        at(moved)[0]
                    };
                    let step = 1e-4;
                    // fourth order: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h
                    let near = moved(step) - moved(-step);
                    let far = moved(2.0 * step) - moved(-2.0 * step);
                    let difference = (8.0 * near - far) / (12.0 * step);
                    assert!((difference - gradient[d]).abs() < 1e-9, "{order} {d} {difference} {gradient:?}");
                }
            }
        }
    }
}
