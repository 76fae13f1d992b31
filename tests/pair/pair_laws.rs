//! The laws of SPH: lanes against the O(N^2) truth, conservation for any state, and what must come out
//! exactly.

use hilbrium::laws::{
    density, divergence_gradient, gradients, momentum_energy_standard, momentum_energy_volume,
    number_density, volume_elements, volume_estimate,
};
use hilbrium::neighbors::{CLUSTER, ClusterList, Coding, NeighborList, Radii, SUPER_CLUSTER};
use hilbrium::pair::{Kernel, PairLaw, Pass, Precision, Sweep, naive};
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

fn unit_box(boundary: Boundary) -> SimulationBox {
    SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [boundary; 3] }
}

/// A state without sense: every quantity random within a factor of a few.
fn random_state(seed: u64, rows: usize) -> Particles {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut particles = Particles::new(Field::ALL, rows);
    let mut number = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
    for row in 0..rows {
        particles.set_vector(Field::Position, row, Vec3d::from_fn(|_, _| number(0.0, 1.0)));
        particles.set_vector(Field::Velocity, row, Vec3d::from_fn(|_, _| number(-1.0, 1.0)));
        for (field, low, high) in [
            (Field::Mass, 0.5, 2.0),
            (Field::SmoothingLength, 0.08, 0.2),
            (Field::Density, 0.5, 3.0),
            (Field::GradH, 0.8, 1.2),
            (Field::Pressure, 0.1, 2.0),
            (Field::SoundSpeed, 0.3, 1.0),
            (Field::InternalEnergy, 0.5, 2.0),
            (Field::Viscosity, 0.0, 1.0),
            (Field::VolumeElement, 0.3, 2.0),
            (Field::VelocityDivergence, -2.0, 2.0),
        ] {
            particles.scalar_mut(field)[row] = number(low, high);
        }
        // Positive definite: a diagonal that dominates.
        for (c, (low, high)) in [(5.0, 9.0), (-2.0, 2.0), (-2.0, 2.0), (5.0, 9.0), (-2.0, 2.0), (5.0, 9.0)]
            .into_iter()
            .enumerate()
        {
            particles.component_mut(Field::GradientMatrix, c)[row] = number(low, high);
        }
    }
    particles
}

fn radii(particles: &Particles) -> Vec<f64> {
    particles.scalar(Field::SmoothingLength).iter().map(|h| Kernel::SUPPORT * h).collect()
}

/// A list of all pairs.
fn all_pairs(rows: usize, symmetric: bool) -> NeighborList {
    let clusters: Vec<Vec<u32>> = (0..rows.div_ceil(SUPER_CLUSTER))
        .map(|super_cluster| {
            let first = if symmetric { 8 * super_cluster } else { 0 };
            (first as u32..rows.div_ceil(CLUSTER) as u32).collect()
        })
        .collect();
    NeighborList::Clustered(ClusterList::from_clusters(0..rows, symmetric, Coding::Plain, &clusters))
}

fn agrees<L: PairLaw>(law: &L) {
    for boundary in [Boundary::Open, Boundary::Periodic] {
        let bx = unit_box(boundary);
        let particles = random_state(5, 300);
        let radius = radii(&particles);
        let mut truth = particles.clone();
        naive(law, &bx, &radius, &mut truth);
        for (symmetric, precision, tolerance) in [
            (false, Precision::Double, 1e-12),
            (true, Precision::Double, 1e-12),
            // Random neighbors can be nearly in a plane: the matrix's inverse then enlarges the rounding of
            // its sum.
            (false, Precision::Mixed, 2e-4),
            (true, Precision::Mixed, 2e-4),
        ] {
            let mut swept = particles.clone();
            let pass = Pass { bx: &bx, radius: Radii::Each(&radius), precision, active: None };
            Sweep::new(&pass, &all_pairs(300, symmetric)).run(law, &mut swept);
            for &field in L::OUTPUTS {
                for c in 0..field.components() {
                    let (a, b) = (swept.component(field, c), truth.component(field, c));
                    let scale = b.iter().fold(1e-300f64, |m, x| m.max(x.abs()));
                    let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs() / scale).fold(0.0, f64::max);
                    assert!(
                        worst < tolerance,
                        "{} {} {precision:?} {symmetric}: {worst:e}",
                        L::NAME,
                        field.name()
                    );
                    assert!(a.iter().all(|x| x.is_finite()));
                }
            }
        }
    }
}

fn standard(kernel: Kernel<f64>) -> momentum_energy_standard::Law<f64> {
    momentum_energy_standard::Law { kernel, beta: 2.0, conductivity: 0.3, switched_conductivity: 0.4 }
}

fn volume(kernel: Kernel<f64>) -> momentum_energy_volume::Law<f64> {
    momentum_energy_volume::Law {
        kernel,
        beta: 2.0,
        conductivity: 0.3,
        switched_conductivity: 0.4,
        crossing_start: 0.1,
        crossing_slope: 10.0,
    }
}

/// Wide ranges: most particles of the test lie inside.
fn estimate(kernel: Kernel<f64>) -> volume_estimate::Law<f64> {
    let (contrast_slope, offset_slope) = (4.0, 2.0);
    volume_estimate::Law {
        kernel,
        ideal: 1.0,
        sound_squared: 1.1,
        contrast_start: 0.0,
        contrast_slope,
        offset_start: 0.0,
        offset_slope,
        compression_start: 0.0,
        compression_slope: 0.5,
    }
}

#[test]
fn lanes_agree_with_naive() {
    let kernel = Kernel::sinc(6).unwrap();
    agrees(&number_density::Law { kernel });
    agrees(&density::Law { kernel: Kernel::wendland_c6() });
    agrees(&volume_elements::Law { kernel: Kernel::cubic_spline() });
    agrees(&estimate(kernel));
    agrees(&gradients::Law::new(kernel));
    agrees(&gradients::Law::new(Kernel::wendland_c2()));
    agrees(&divergence_gradient::Law { kernel: Kernel::wendland_c4() });
    agrees(&standard(kernel));
    agrees(&volume(kernel));
}

/// Momentum and total energy rate, over the sums of their terms' magnitudes.
fn imbalance(particles: &Particles) -> (f64, f64) {
    let (mut momentum, mut force, mut energy, mut power) = (Vec3d::zeros(), 0.0, 0.0, 0.0);
    for row in 0..particles.len() {
        let m = particles.scalar(Field::Mass)[row];
        let a = particles.vector_at(Field::Acceleration, row);
        let v = particles.vector_at(Field::Velocity, row);
        let du = particles.scalar(Field::InternalEnergyRate)[row];
        momentum += a * m;
        force += a.norm() * m;
        energy += m * (v.dot(&a) + du);
        power += m * (v.dot(&a).abs() + du.abs());
    }
    (momentum.norm() / force, energy.abs() / power)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever the state, forces come in pairs and what motion loses heat gains.
    #[test]
    fn momentum_and_energy_are_conserved(seed in any::<u64>(), symmetric in any::<bool>(), periodic in any::<bool>()) {
        let particles = random_state(seed, 150);
        let bx = unit_box(if periodic { Boundary::Periodic } else { Boundary::Open });
        let (radius, list) = (radii(&particles), all_pairs(150, symmetric));
        for (precision, rounding) in [(Precision::Double, 1e-13), (Precision::Mixed, 2e-6)] {
            let pass = Pass { bx: &bx, radius: Radii::Each(&radius), precision, active: None };
            let mut swept = particles.clone();
            Sweep::new(&pass, &list).run(&standard(Kernel::sinc(6).unwrap()), &mut swept);
            let (momentum, energy) = imbalance(&swept);
            prop_assert!(momentum < rounding && energy < rounding, "standard {momentum:e} {energy:e}");
            Sweep::new(&pass, &list).run(&volume(Kernel::sinc(6).unwrap()), &mut swept);
            let (momentum, energy) = imbalance(&swept);
            prop_assert!(momentum < rounding && energy < rounding, "volume {momentum:e} {energy:e}");
        }
    }
}

/// A perturbed periodic lattice of 10^3 particles with density about 1.
fn lattice(noise: f64) -> (Particles, SimulationBox) {
    let n = 10;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let mut particles = Particles::new(Field::ALL, n * n * n);
    for row in 0..n * n * n {
        let cell = Vec3d::new((row / n / n) as f64, (row / n % n) as f64, (row % n) as f64);
        let shift = Vec3d::from_fn(|_, _| 0.5 + noise * (random.random::<f64>() - 0.5));
        particles.set_vector(Field::Position, row, (cell + shift) / n as f64);
        particles.scalar_mut(Field::Mass)[row] = 1e-3;
        particles.scalar_mut(Field::SmoothingLength)[row] = 0.145;
        particles.scalar_mut(Field::VolumeElement)[row] = 1e-3;
    }
    (particles, unit_box(Boundary::Periodic))
}

#[test]
fn lattice_has_its_density() {
    let (mut particles, bx) = lattice(0.0);
    let radius = radii(&particles);
    let kernel = Kernel::sinc(6).unwrap();
    naive(&density::Law { kernel }, &bx, &radius, &mut particles);
    naive(&number_density::Law { kernel }, &bx, &radius, &mut particles);
    assert!((particles.scalar(Field::Density)[77] - 1.0).abs() < 2e-3);
    assert!((particles.scalar(Field::NumberDensity)[77] - 1e3).abs() < 2.0);
    assert!((particles.scalar(Field::GradH)[77] - 1.0).abs() < 2e-2);
    // rho = k m / X holds whatever X.
    for row in particles.owned() {
        let estimate = particles.scalar(Field::Mass)[row] / particles.scalar(Field::Density)[row];
        particles.scalar_mut(Field::VolumeElement)[row] = estimate;
    }
    naive(&volume_elements::Law { kernel }, &bx, &radius, &mut particles);
    assert!((particles.scalar(Field::Density)[77] - 1.0).abs() < 2e-3);
    let k = particles.scalar(Field::VolumeSum)[77];
    assert!((k - 1.0).abs() < 2e-3, "the volumes X / k fill space: {k}");
}

#[test]
fn slopes_are_derivatives_in_h() {
    let (particles, bx) = lattice(0.6);
    let row = 123;
    for kernel in [Kernel::sinc(5).unwrap(), Kernel::cubic_spline(), Kernel::wendland_c4()] {
        let at = |h: f64| {
            let mut particles = particles.clone();
            particles.scalar_mut(Field::SmoothingLength)[row] = h;
            let radius = radii(&particles);
            naive(&density::Law { kernel }, &bx, &radius, &mut particles);
            let (rho, omega) = (particles.scalar(Field::Density)[row], particles.scalar(Field::GradH)[row]);
            naive(&number_density::Law { kernel }, &bx, &radius, &mut particles);
            naive(&volume_elements::Law { kernel }, &bx, &radius, &mut particles);
            let scalar = |field| particles.scalar(field)[row];
            let (n, slope) = (scalar(Field::NumberDensity), scalar(Field::NumberDensitySlope));
            (rho, omega, n, slope, scalar(Field::VolumeSum), scalar(Field::GradH))
        };
        let (h, d) = (0.145, 1e-5);
        let (low, here, high) = (at(h - d), at(h), at(h + d));
        let relative = |a: f64, b: f64| (a - b).abs() / b.abs();
        let omega = 1.0 + h / (3.0 * here.0) * (high.0 - low.0) / (2.0 * d);
        assert!(relative(here.1, omega) < 1e-6, "{} {omega}", here.1);
        let slope = h * (high.2 - low.2) / (2.0 * d);
        assert!((here.3 - slope).abs() < 1e-5 * here.2, "{} {slope}", here.3);
        let omega = 1.0 + h / (3.0 * here.4) * (high.4 - low.4) / (2.0 * d);
        assert!(relative(here.5, omega) < 1e-6, "{} {omega}", here.5);
    }
}

/// The integral approach is exact for linear functions on any arrangement of particles.
#[test]
fn linear_flow_is_differentiated_exactly() {
    let (mut particles, mut bx) = lattice(0.8);
    bx.boundary = [Boundary::Open; 3];
    for row in 0..particles.len() {
        let x = particles.vector_at(Field::Position, row);
        let v = Vec3d::new(1.0 + 2.0 * x.x - x.y, 3.0 * x.x + 0.5 * x.z, x.y - 4.0 * x.z);
        particles.set_vector(Field::Velocity, row, v);
    }
    let (kernel, radius) = (Kernel::sinc(6).unwrap(), radii(&particles));
    naive(&density::Law { kernel }, &bx, &radius, &mut particles);
    let list = all_pairs(particles.len(), false);
    for (precision, tolerance) in [(Precision::Double, 1e-11), (Precision::Mixed, 2e-4)] {
        let pass = Pass { bx: &bx, radius: Radii::Each(&radius), precision, active: None };
        Sweep::new(&pass, &list).run(&gradients::Law::new(kernel), &mut particles);
        assert_eq!(fallbacks(&particles), 0);
        let curl = (0.5f64.powi(2) + 4f64.powi(2)).sqrt();
        for row in 0..particles.len() {
            let divergence = particles.scalar(Field::VelocityDivergence)[row];
            assert!((divergence + 2.0).abs() < tolerance, "{precision:?} {row}: {divergence}");
            let found = particles.scalar(Field::VelocityCurl)[row];
            assert!((found - curl).abs() < tolerance, "{precision:?} {row}: {found} {curl}");
        }
        // A divergence linear in space.
        for row in 0..particles.len() {
            let x = particles.vector_at(Field::Position, row);
            particles.scalar_mut(Field::VelocityDivergence)[row] = 2.0 * x.x - x.y + 3.0 * x.z;
        }
        Sweep::new(&pass, &list).run(&divergence_gradient::Law { kernel }, &mut particles);
        // the matrices of corners are reduced
        let inside =
            |row: &usize| particles.vector_at(Field::Position, *row).iter().all(|x| (x - 0.5).abs() < 0.4);
        let rows: Vec<usize> = (0..particles.len()).filter(inside).collect();
        assert!(rows.len() > particles.len() / 3);
        for row in rows {
            let found = particles.vector_at(Field::DivergenceGradient, row);
            assert!((found - Vec3d::new(2.0, -1.0, 3.0)).norm() < tolerance, "{precision:?} {row}: {found}");
        }
    }
}

/// How many owned particles got the isotropic matrix because their neighbors lie in a plane, or have none.
fn fallbacks(particles: &Particles) -> usize {
    let [xx, xy, xz, yy, yz, zz] = [0, 1, 2, 3, 4, 5].map(|c| particles.component(Field::GradientMatrix, c));
    let plain = |&row: &usize| {
        xy[row] == 0.0 && xz[row] == 0.0 && yz[row] == 0.0 && xx[row] == yy[row] && yy[row] == zz[row]
    };
    particles.owned().filter(plain).count()
}

/// Particles in a plane, in a line, and alone have no inverse; the isotropic matrix stands in.
#[test]
fn singular_matrices_fall_back() {
    let mut particles = Particles::new(Field::ALL, 12);
    for row in 0..12 {
        let at = match row {
            0..6 => Vec3d::new(0.1 * (row % 3) as f64, 0.1 * (row / 3) as f64, 0.0),
            6..11 => Vec3d::new(5.0 + 0.1 * row as f64, 0.0, 0.0),
            _ => Vec3d::new(0.0, 9.0, 0.0),
        };
        particles.set_vector(Field::Position, row, at);
        for (field, value) in [(Field::Mass, 1.0), (Field::Density, 1.0), (Field::SmoothingLength, 0.2)] {
            particles.scalar_mut(field)[row] = value;
        }
    }
    let (bx, radius) = (unit_box(Boundary::Open), radii(&particles));
    let law = gradients::Law::new(Kernel::cubic_spline());
    naive(&law, &bx, &radius, &mut particles);
    assert_eq!(fallbacks(&particles), 12);
    let xx = particles.component(Field::GradientMatrix, 0);
    assert!(xx.iter().all(|x| x.is_finite()) && xx[0] > 0.0 && xx[11] == 0.0);
}

/// A particle far from a dense cube has neighbors of small volume: its matrix is that of a filled kernel
/// along the line to them, while the particles of the cube keep theirs.
#[test]
fn the_matrix_of_a_particle_apart_is_bounded() {
    let (edge, count) = (6, 6 * 6 * 6 + 1);
    let mut particles = random_state(1, count);
    for row in 0..count {
        let cell = [row % edge, row / edge % edge, row / (edge * edge)].map(|k| 0.05 * (k as f64 - 2.5));
        let last = row + 1 == count;
        let at = if last { Vec3d::new(1.5, 0.0, 0.0) } else { Vec3d::from(cell) };
        particles.set_vector(Field::Position, row, at);
        particles.scalar_mut(Field::Mass)[row] = 1.0;
        particles.scalar_mut(Field::Density)[row] = if last { 10.0 } else { 8000.0 };
        particles.scalar_mut(Field::SmoothingLength)[row] = if last { 0.9 } else { 0.065 };
    }
    let (bx, radius) = (unit_box(Boundary::Open), radii(&particles));
    let kernel = Kernel::wendland_c6();
    assert!((kernel.second_moment() - 1.0 / 6.0).abs() < 1e-12);
    naive(&gradients::Law::new(kernel), &bx, &radius, &mut particles);
    let xx = particles.component(Field::GradientMatrix, 0);
    let filled = |row: usize, h: f64| xx[row] * h * h / 6.0;
    assert!((filled(count - 1, 0.9) - 1.0 / 3.0).abs() < 0.02, "{}", filled(count - 1, 0.9));
    let middle = 2 + edge * (2 + edge * 2);
    assert!((filled(middle, 0.065) - 1.0).abs() < 0.05, "{}", filled(middle, 0.065));
}

/// All particles at one point: finite, and no force between them.
#[test]
fn one_point_is_survived() {
    let mut particles = random_state(1, 40);
    for row in 0..40 {
        particles.set_vector(Field::Position, row, Vec3d::repeat(0.5));
    }
    let (bx, radius) = (unit_box(Boundary::Open), radii(&particles));
    for precision in [Precision::Double, Precision::Mixed] {
        let pass = Pass { bx: &bx, radius: Radii::Each(&radius), precision, active: None };
        Sweep::new(&pass, &all_pairs(40, false)).run(&standard(Kernel::sinc(6).unwrap()), &mut particles);
        assert!(particles.scalar(Field::InternalEnergyRate).iter().all(|rate| *rate == 0.0));
        Sweep::new(&pass, &all_pairs(40, false)).run(&volume(Kernel::sinc(6).unwrap()), &mut particles);
        for column in particles.vector(Field::Acceleration) {
            assert!(column.iter().all(|a| *a == 0.0));
        }
    }
}

/// Equal pressure and volumes on a lattice: no force; and a pressure gradient pushes down it as -grad P /
/// rho.
#[test]
fn pressure_gradient_accelerates() {
    let (mut particles, bx) = lattice(0.0);
    let (kernel, radius) = (Kernel::sinc(6).unwrap(), radii(&particles));
    naive(&density::Law { kernel }, &bx, &radius, &mut particles);
    naive(&gradients::Law::new(kernel), &bx, &radius, &mut particles);
    particles.scalar_mut(Field::GradH).fill(1.0);
    particles.scalar_mut(Field::SoundSpeed).fill(1.0);
    let wave = std::f64::consts::TAU;
    for row in 0..particles.len() {
        let x = particles.vector_at(Field::Position, row).x;
        particles.scalar_mut(Field::Pressure)[row] = 2.0 + 0.1 * (wave * x).sin();
    }
    for row in [0, 111, 555, 999] {
        let x = particles.vector_at(Field::Position, row).x;
        let wanted = -0.1 * wave * (wave * x).cos();
        naive(&standard(kernel), &bx, &radius, &mut particles);
        let a = particles.vector_at(Field::Acceleration, row);
        assert!((a.x - wanted).abs() < 0.06 && a.y.abs() < 1e-12 && a.z.abs() < 1e-12, "{a} {wanted}");
        naive(&volume(kernel), &bx, &radius, &mut particles);
        let a = particles.vector_at(Field::Acceleration, row);
        assert!((a.x - wanted).abs() < 0.06 && a.y.abs() < 1e-12 && a.z.abs() < 1e-12, "{a} {wanted}");
    }
    particles.scalar_mut(Field::Pressure).fill(2.0);
    naive(&volume(kernel), &bx, &radius, &mut particles);
    assert!(particles.vector_at(Field::Acceleration, 500).norm() < 1e-12);
}

/// An approaching pair is slowed and heated, a receding one is not.
#[test]
fn viscosity_resists_approach() {
    for (speed, viscous) in [(-1.0, true), (1.0, false)] {
        let mut particles = random_state(2, 2);
        for row in 0..2 {
            let side = row as f64 - 0.5;
            particles.set_vector(Field::Position, row, Vec3d::new(0.5 + 0.1 * side, 0.5, 0.5));
            particles.set_vector(Field::Velocity, row, Vec3d::new(speed * side, 0.0, 0.0));
            particles.scalar_mut(Field::Pressure)[row] = 0.0;
            particles.scalar_mut(Field::InternalEnergy)[row] = 1.0;
            for (c, value) in [1.0, 0.0, 0.0, 1.0, 0.0, 1.0].into_iter().enumerate() {
                particles.component_mut(Field::GradientMatrix, c)[row] = value;
            }
        }
        let (bx, radius) = (unit_box(Boundary::Open), radii(&particles));
        naive(&standard(Kernel::sinc(6).unwrap()), &bx, &radius, &mut particles);
        let (a, rate) =
            (particles.vector(Field::Acceleration)[0][1], particles.scalar(Field::InternalEnergyRate)[1]);
        assert_eq!((a > 0.0, rate > 0.0), (viscous, viscous), "{a} {rate}");
        let signal =
            particles.scalar(Field::SoundSpeed).iter().sum::<f64>() + if viscous { 3.0 } else { 0.0 };
        assert!((particles.scalar(Field::SignalSpeed)[0] - signal).abs() < 1e-12);
    }
}
