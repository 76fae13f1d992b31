//! Every list kind, symmetry, boundary, precision, cutoff and instruction set against the O(N^2) truth, on lists
//! that hold all pairs, so that only the sweep is on trial.

use hilbrium::neighbors::{
    CLUSTER, CellList, ClusterList, Coding, ListRequest, NeighborList, ParticleList, Radii, SUPER_CLUSTER,
};
use hilbrium::pair::language::*;
use hilbrium::pair::{Instructions, PairLaw, Pass, Precision, Sweep, find_tiles, naive, supports_tiles};
use hilbrium::particles::{Field, OverlappedWork, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use rand::{RngExt, SeedableRng};

/// One quantity of every parity and reduction.
#[pair(cutoff = either)]
mod probe_either {
    struct Law {
        strength: Real,
    }
    struct Particle {
        mass: Real,
        velocity: Vec3,
    }
    struct Sums {
        #[odd]
        acceleration: Vec3,
        #[even]
        potential: Real,
        #[even]
        #[min]
        pressure: Real,
        #[max]
        signal_speed: Real,
        number_density: Real,
    }
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let v = i.velocity - j.velocity;
        let closeness = 1.0 / (r2 + 0.01);
        Sums {
            acceleration: (r * closeness + v) * (law.strength * i.mass * j.mass),
            potential: v.dot(r),
            pressure: r2,
            signal_speed: j.mass - 2.0 * i.mass,
            number_density: if i.mass < j.mass { j.mass } else { 0.5 * j.velocity.x },
        }
    }
}

/// The same with the other cutoff.
#[pair(cutoff = own)]
mod probe_own {
    struct Law {
        strength: Real,
    }
    struct Particle {
        mass: Real,
        velocity: Vec3,
    }
    struct Sums {
        #[odd]
        acceleration: Vec3,
        #[even]
        potential: Real,
        #[even]
        #[min]
        pressure: Real,
        #[max]
        signal_speed: Real,
        number_density: Real,
    }
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        Sums {
            acceleration: (r + (i.velocity - j.velocity)) * law.strength,
            potential: i.mass * j.mass,
            pressure: r2,
            signal_speed: j.mass - 2.0 * i.mass,
            number_density: j.mass * j.mass,
        }
    }
}

/// One cutoff for all, and what symmetry tells of both sides: more than a quad of each.
#[pair(cutoff = common)]
mod probe_common {
    struct Law {
        strength: Real,
    }
    struct Particle {
        mass: Real,
        velocity: Vec3,
    }
    struct Sums {
        #[odd]
        acceleration: Vec3,
        #[even]
        potential: Real,
        #[odd]
        number_density: Real,
        #[even]
        pressure: Real,
    }
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let v = i.velocity - j.velocity;
        let closeness = 1.0 / (r2 + 0.01);
        Sums {
            acceleration: (r * closeness + v) * (law.strength * i.mass * j.mass),
            potential: v.dot(r),
            number_density: i.mass - j.mass,
            pressure: r2 + i.mass * j.mass,
        }
    }
}

const FIELDS: [Field; 10] = [
    Field::Position,
    Field::Velocity,
    Field::Mass,
    Field::Acceleration,
    Field::Potential,
    Field::Pressure,
    Field::SignalSpeed,
    Field::NumberDensity,
    Field::Work,
    Field::SmoothingLength,
];

/// Some rows.
fn scene(seed: u64, bx: &SimulationBox) -> (Particles, Vec<f64>) {
    scene_of(seed, bx, 305)
}

/// Rows: halos and padding ghosts, then owned rows from 64, then halos, ending inside a cluster. Radii are some tenths of the
/// box's longest edge.
fn scene_of(seed: u64, bx: &SimulationBox, rows: usize) -> (Particles, Vec<f64>) {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let owned = 64..rows - 46;
    let mut particles = Particles::new(&FIELDS, rows);
    let mut radius = vec![0.0; rows];
    let lengths = bx.lengths();
    for row in 0..rows {
        if (40..64).contains(&row) {
            particles.id[row] = u64::MAX;
            particles.set_vector(Field::Position, row, Vec3d::repeat(f64::INFINITY));
            continue;
        }
        let unit = Vec3d::from_fn(|_, _| random.random::<f64>());
        // Rows of a super-cluster lie together, as they do along the curve, or anywhere, as halos may.
        let near = (row / 16) as f64 / 24.0;
        let at = if owned.contains(&row) && seed.is_multiple_of(2) {
            Vec3d::repeat(near) + unit * 0.25
        } else {
            unit
        };
        particles.set_vector(Field::Position, row, bx.wrap(bx.lower + at.component_mul(&lengths)));
        particles.set_vector(Field::Velocity, row, Vec3d::from_fn(|_, _| random.random::<f64>() - 0.5));
        particles.scalar_mut(Field::Mass)[row] = 0.5 + random.random::<f64>();
        radius[row] = 0.1 + 0.2 * random.random::<f64>();
    }
    particles.set_owned(owned);
    (particles, radius)
}

/// Lists of all pairs, and tiles and cells of those in reach of the largest radius: all kinds that a law is
/// swept over.
fn lists<L: PairLaw>(
    bx: &SimulationBox,
    particles: &Particles,
    radius: &[f64],
) -> Vec<(&'static str, NeighborList)> {
    let owned = particles.owned();
    let mut lists = Vec::new();
    for symmetric in [false, true] {
        let clusters: Vec<Vec<u32>> = (owned.start / SUPER_CLUSTER..owned.end.div_ceil(SUPER_CLUSTER))
            .map(|super_cluster| {
                let halo =
                    |cluster: usize| cluster * CLUSTER >= owned.end || (cluster + 1) * CLUSTER <= owned.start;
                let wanted = |cluster: &usize| !symmetric || halo(*cluster) || *cluster >= super_cluster * 8;
                let all = 0..particles.len().div_ceil(CLUSTER);
                all.filter(wanted).map(|cluster| cluster as u32).collect()
            })
            .collect();
        let clusters = ClusterList::from_clusters(owned.clone(), symmetric, Coding::Plain, &clusters);
        if symmetric {
            let request = ListRequest::of(bx, particles, radius, symmetric, Coding::Plain);
            lists.push(("tiles", NeighborList::Tiled(find_tiles(&clusters, &request, None).expect("tiles"))));
        }
        if !(symmetric && supports_tiles::<L>()) {
            let name = if symmetric { "half clusters" } else { "clusters" };
            lists.push((name, NeighborList::Clustered(clusters)));
        }
        let rows: Vec<Vec<u32>> = owned
            .clone()
            .map(|i| {
                let wanted = |j: &usize| !symmetric || *j > i || !owned.contains(j);
                let all = (0..particles.len()).filter(|&j| j != i && !particles.ghost(j)).filter(wanted);
                all.map(|j| j as u32).collect()
            })
            .collect();
        let rows = ParticleList::from_rows(owned.clone(), symmetric, &rows);
        lists.push((if symmetric { "half particles" } else { "particles" }, NeighborList::PerParticle(rows)));
    }
    let request = ListRequest::of(bx, particles, radius, false, Coding::Plain);
    lists.push(("cells", NeighborList::Cells(CellList::build(&request).expect("cells"))));
    lists
}

fn boxes() -> Vec<SimulationBox> {
    let make = |edges: [f64; 3], boundary| SimulationBox {
        lower: Vec3d::new(-0.3, 0.1, 7.0),
        upper: Vec3d::new(-0.3, 0.1, 7.0) + Vec3d::from(edges),
        boundary,
    };
    use Boundary::{Open, Periodic};
    vec![
        make([1.0; 3], [Open; 3]),
        make([1.0; 3], [Periodic; 3]),
        make([3.0, 0.7, 1.0], [Periodic, Periodic, Open]),
        // So large that most super-clusters tell every image from their frame.
        make([6.0; 3], [Periodic; 3]),
    ]
}

/// The largest difference of an output, relative to the largest magnitude of its column.
fn difference(fields: &[Field], a: &Particles, b: &Particles) -> f64 {
    let mut worst = 0f64;
    for &field in fields {
        for c in 0..field.components() {
            let (a, b) = (&a.component(field, c)[a.owned()], &b.component(field, c)[b.owned()]);
            let scale = b.iter().filter(|x| x.is_finite()).fold(1e-300f64, |m, x| m.max(x.abs()));
            for (x, y) in a.iter().zip(b) {
                // Particles without a pair have the infinities of an empty minimum or maximum.
                let error = if x == y { 0.0 } else { (x - y).abs() / scale };
                worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
            }
        }
    }
    worst
}

fn battery<L: PairLaw>(law: &L) {
    for (seed, bx) in boxes().iter().enumerate().flat_map(|(k, bx)| [(2 * k, bx), (2 * k + 1, bx)]) {
        let (particles, radius) = scene(seed as u64, bx);
        let mut truth = particles.clone();
        naive(law, bx, &radius, &mut truth);
        for (name, list) in lists::<L>(bx, &particles, &radius) {
            for (precision, tolerance) in [(Precision::Double, 1e-13), (Precision::Mixed, 3e-5)] {
                for instructions in [Instructions::Best, Instructions::Avx2, Instructions::Baseline] {
                    let mut swept = particles.clone();
                    let pass = Pass { bx, radius: Radii::Each(&radius), precision, active: None };
                    let sweep = Sweep::new(&pass, &list).with_instructions(instructions);
                    let statistics = sweep.run(law, &mut swept);
                    let error = difference(L::OUTPUTS, &swept, &truth);
                    assert!(
                        error < tolerance,
                        "{} over {name}, scene {seed}, {precision:?}, {instructions:?}: {error:e}",
                        L::NAME
                    );
                    assert!(statistics.lane_pairs > 0);
                    assert!(swept.scalar(Field::Work)[swept.owned()].iter().all(|&work| work > 0.0));
                }
            }
        }
    }
}

#[test]
fn either_cutoff_agrees_with_naive() {
    battery(&probe_either::Law { strength: 0.7 });
}

/// What is swept while halos are on their way is what needs none of them; nothing need be.
#[test]
fn halos_may_arrive_during_a_sweep() {
    arriving(&probe_own::Law { strength: 0.7 });
    arriving(&probe_common::Law { strength: 0.7 });
}

fn arriving<L: PairLaw>(law: &L) {
    let mut sides = [0, 0];
    for (seed, bx) in boxes().iter().enumerate() {
        let (particles, mut radius) = scene_of(2 * seed as u64, bx, 1003);
        radius.iter_mut().for_each(|radius| *radius *= 0.3);
        let halos: Vec<usize> = (0..particles.len())
            .filter(|row| !particles.owned().contains(row) && !particles.ghost(*row))
            .collect();
        let read = [Field::Position, Field::Velocity, Field::Mass];
        let mut old = particles.clone();
        for (field, &row) in read.iter().flat_map(|field| halos.iter().map(move |row| (field, row))) {
            (0..field.components()).for_each(|c| old.component_mut(*field, c)[row] = f64::NAN);
        }
        for (symmetric, precision) in [false, true]
            .into_iter()
            .flat_map(|half| [Precision::Double, Precision::Mixed].map(|p| (half, p)))
        {
            let request = ListRequest::of(bx, &particles, &radius, symmetric, Coding::Nibble);
            let clusters = ClusterList::build(&request).expect("a list");
            clusters.super_clusters().for_each(|s| sides[usize::from(clusters.reaches_out(s))] += 1);
            let rows = ParticleList::build(&request).expect("a list");
            let cells = (!symmetric).then(|| CellList::build(&request).expect("cells"));
            let tiles = symmetric.then(|| find_tiles(&clusters, &request, None).expect("tiles"));
            let clusters = (!(symmetric && supports_tiles::<L>())).then_some(clusters);
            let kinds = [
                clusters.map(NeighborList::Clustered),
                Some(NeighborList::PerParticle(rows)),
                tiles.map(NeighborList::Tiled),
                cells.map(NeighborList::Cells),
            ];
            for list in kinds.into_iter().flatten() {
                let pass = Pass { bx, radius: Radii::Each(&radius), precision, active: None };
                let mut at_once = particles.clone();
                let whole = Sweep::new(&pass, &list).run(law, &mut at_once);
                for overlaps in [true, false] {
                    let mut arriving = old.clone();
                    let mut exchange = |now: &mut Particles, meanwhile: &mut OverlappedWork| {
                        if overlaps {
                            meanwhile(now);
                        }
                        for field in read {
                            for c in 0..field.components() {
                                let values = particles.component(field, c);
                                halos.iter().for_each(|&row| now.component_mut(field, c)[row] = values[row]);
                            }
                        }
                    };
                    let sweep = Sweep::new(&pass, &list).exchanging_halos(&mut exchange);
                    let arrived = sweep.run(law, &mut arriving);
                    assert_eq!(whole, arrived);
                    let error = difference(L::OUTPUTS, &arriving, &at_once);
                    let most = match (symmetric && overlaps, precision) {
                        (false, _) => 0.0,
                        (true, Precision::Double) => 1e-13,
                        (true, Precision::Mixed) => 3e-5,
                    };
                    assert!(error <= most, "scene {seed}, half {symmetric}, {precision:?}: {error:e}");
                    assert_eq!(arriving.scalar(Field::Work), at_once.scalar(Field::Work));
                }
            }
        }
    }
    assert!(sides[0] > 40 && sides[1] > 40, "{sides:?}");
}

#[test]
fn common_cutoff_agrees_with_naive() {
    battery(&probe_common::Law { strength: 0.7 });
}

#[test]
fn own_cutoff_agrees_with_naive() {
    battery(&probe_own::Law { strength: 0.7 });
}

/// More clusters than a word has bits, lengths whose squares single precision does not hold, and a box far from the origin.
#[test]
fn neither_units_nor_places_matter() {
    in_units(&probe_own::Law { strength: 0.7 });
    in_units(&probe_common::Law { strength: 0.7 });
}

fn in_units<L: PairLaw>(law: &L) {
    use Boundary::{Open, Periodic};
    for (scale, far, boundary, tolerance) in [
        (1.0, 0.0, Periodic, 1e-13),
        (1e30, 0.0, Periodic, 1e-13),
        (1e-30, 0.0, Open, 1e-13),
        (1.0, 1e6, Periodic, 1e-9),
        (1e-30, 1e6, Open, 1e-9),
    ] {
        let lower = Vec3d::new(-0.3, far, 7.0) * scale;
        let bx = SimulationBox { lower, upper: lower + Vec3d::repeat(scale), boundary: [boundary; 3] };
        let (mut particles, mut radius) = scene_of(2, &bx, 1003);
        radius.iter_mut().for_each(|radius| *radius *= 0.3 * scale);
        for row in 0..particles.len() {
            particles.set_vector(Field::Velocity, row, particles.vector_at(Field::Velocity, row) * scale);
        }
        let mut truth = particles.clone();
        naive(law, &bx, &radius, &mut truth);
        for (name, list) in lists::<L>(&bx, &particles, &radius) {
            let mut swept = particles.clone();
            let pass =
                Pass { bx: &bx, radius: Radii::Each(&radius), precision: Precision::Double, active: None };
            let statistics = Sweep::new(&pass, &list).run(law, &mut swept);
            let error = difference(L::OUTPUTS, &swept, &truth);
            assert!(error < tolerance, "over {name}, unit {scale:e}, at {far:e}: {error:e}");
            let all = (particles.owned().len() * particles.len()) as u64;
            assert!(
                name.contains("particles") || statistics.lane_pairs < all * 3 / 4,
                "{name}, unit {scale:e}, at {far:e}: {} of {all}",
                statistics.lane_pairs
            );
        }
    }
}

/// More clusters than are brought into a super-cluster's frame at a time.
#[test]
fn long_lists_are_walked_in_segments() {
    in_segments(&probe_either::Law { strength: 0.7 });
    in_segments(&probe_common::Law { strength: 0.7 });
}

fn in_segments<L: PairLaw>(law: &L) {
    for bx in [&boxes()[0], &boxes()[1]] {
        let (particles, radius) = scene_of(3, bx, 2605);
        let mut truth = particles.clone();
        naive(law, bx, &radius, &mut truth);
        for (name, list) in lists::<L>(bx, &particles, &radius) {
            let mut swept = particles.clone();
            let pass = Pass { bx, radius: Radii::Each(&radius), precision: Precision::Double, active: None };
            Sweep::new(&pass, &list).run(law, &mut swept);
            let error = difference(L::OUTPUTS, &swept, &truth);
            assert!(error < 1e-13, "{name}: {error:e}");
        }
    }
}

#[test]
fn inactive_rows_keep_their_outputs() {
    some_active(&probe_either::Law { strength: 1.0 });
    some_active(&probe_common::Law { strength: 1.0 });
}

fn some_active<L: PairLaw>(law: &L) {
    let bx = &boxes()[0];
    let (particles, radius) = scene(0, bx);
    let active: Vec<bool> = (0..particles.len()).map(|row| row % 3 == 0 && row < 200).collect();
    let mut truth = particles.clone();
    naive(law, bx, &radius, &mut truth);
    for (name, list) in lists::<L>(bx, &particles, &radius) {
        let mut swept = particles.clone();
        swept.scalar_mut(Field::Pressure).fill(-7.0);
        let pass =
            Pass { bx, radius: Radii::Each(&radius), precision: Precision::Double, active: Some(&active) };
        Sweep::new(&pass, &list).run(law, &mut swept);
        for row in 0..swept.len() {
            let value = swept.scalar(Field::Pressure)[row];
            if active[row] && swept.owned().contains(&row) {
                let wanted = truth.scalar(Field::Pressure)[row];
                assert!(
                    value == wanted || (value - wanted).abs() < 1e-12,
                    "{name} row {row}: {value} {wanted}"
                );
            } else {
                assert_eq!(value, -7.0, "{name} row {row}");
            }
        }
    }
}

#[test]
fn spent_inputs_are_gone_and_change_no_bit() {
    let bx = &boxes()[1];
    let (particles, radius) = scene(4, bx);
    let active: Vec<bool> = (0..particles.len()).map(|row| row % 5 != 0).collect();
    let law = probe_either::Law { strength: 0.3 };
    for (name, list) in lists::<probe_either::Law<f64>>(bx, &particles, &radius) {
        for (precision, active) in [(Precision::Mixed, None), (Precision::Double, Some(&active[..]))] {
            let pass = Pass { bx, radius: Radii::Each(&radius), precision, active };
            let (mut kept, mut spent) = (particles.clone(), particles.clone());
            let statistics = Sweep::new(&pass, &list).run(&law, &mut kept);
            // a field that is written and not there is made
            spent.remove(&[Field::Potential]);
            let fields = [Field::Velocity, Field::Mass, Field::Charge];
            let consuming = Sweep::new(&pass, &list).consuming(&fields);
            assert_eq!(consuming.run(&law, &mut spent), statistics);
            assert!(fields.iter().all(|&field| !spent.has(field)) && spent.has(Field::Position), "{name}");
            for field in
                [Field::Acceleration, Field::Potential, Field::Pressure, Field::SignalSpeed, Field::Work]
            {
                for c in 0..field.components() {
                    let bits =
                        |p: &Particles| p.component(field, c).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&kept), bits(&spent), "{name} {}", field.name());
                }
            }
        }
    }
}

#[test]
fn repeats_its_bits() {
    let bx = &boxes()[1];
    // some chunks of a half list have sums of the same row
    let (particles, radius) = scene_of(1, bx, 600);
    let law = probe_either::Law { strength: 1.0 };
    for (name, list) in lists::<probe_either::Law<f64>>(bx, &particles, &radius) {
        for (threads, precision) in [(1, Precision::Mixed), (3, Precision::Mixed), (3, Precision::Double)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = || {
                let mut swept = particles.clone();
                let pass = Pass { bx, radius: Radii::Each(&radius), precision, active: None };
                Sweep::new(&pass, &list).run(&law, &mut swept);
                swept
                    .vector(Field::Acceleration)
                    .map(|column| column.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            let first = pool.install(run);
            // whichever thread is free for a chunk of a list
            (0..8).for_each(|_| {
                assert_eq!(pool.install(run), first, "{name} on {threads} threads, {precision:?}")
            });
        }
    }
}

/// Rows of a cell are in several chunks, whose number depends on the threads.
#[test]
fn cells_have_the_same_bits_on_any_number_of_threads() {
    for bx in boxes() {
        let (particles, radius) = scene_of(1, &bx, 3005);
        let narrow: Vec<f64> = radius.iter().map(|radius| 0.4 * radius).collect();
        for (radius, precision) in [(&radius, Precision::Double), (&narrow, Precision::Mixed)] {
            let request = ListRequest::of(&bx, &particles, radius, false, Coding::Plain);
            let swept = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let list = NeighborList::Cells(CellList::build(&request).expect("cells"));
                    let mut swept = particles.clone();
                    let pass = Pass { bx: &bx, radius: Radii::Each(radius), precision, active: None };
                    Sweep::new(&pass, &list).run(&probe_either::Law { strength: 0.7 }, &mut swept);
                    let sums = swept.vector(Field::Acceleration).into_iter();
                    let all = sums.chain([swept.scalar(Field::Pressure), swept.scalar(Field::Work)]);
                    all.flatten().map(|x| x.to_bits()).collect::<Vec<_>>()
                })
            };
            let one = swept(1);
            assert!([2, 3, 7].into_iter().all(|threads| swept(threads) == one), "{bx:?} {precision:?}");
        }
    }
}

/// Rows stay in their cells while they move by less than half the skin, whether they are wrapped or not.
#[test]
fn cells_stay_valid_within_their_skin() {
    for (seed, bx) in boxes().iter().enumerate() {
        let (mut particles, radius) = scene_of(seed as u64, bx, 705);
        let (skin, wide) = (0.04, radius.iter().map(|radius| radius + 0.04).collect::<Vec<f64>>());
        let request = ListRequest::of(bx, &particles, &wide, false, Coding::Plain);
        let list = NeighborList::Cells(CellList::build(&request).expect("cells"));
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(9);
        for row in (0..particles.len()).filter(|row| !(40..64).contains(row)) {
            let by = Vec3d::from_fn(|_, _| random.random::<f64>() - 0.5) * (skin / 3f64.sqrt());
            let moved = particles.vector_at(Field::Position, row) + by;
            let at = if random.random::<bool>() { bx.wrap(moved) } else { moved };
            particles.set_vector(Field::Position, row, at);
        }
        let law = probe_either::Law { strength: 0.7 };
        let mut truth = particles.clone();
        naive(&law, bx, &radius, &mut truth);
        for (precision, tolerance) in [(Precision::Double, 1e-13), (Precision::Mixed, 3e-5)] {
            let pass = Pass { bx, radius: Radii::Each(&radius), precision, active: None };
            let mut swept = particles.clone();
            Sweep::new(&pass, &list).run(&law, &mut swept);
            let error = difference(probe_either::Law::<f64>::OUTPUTS, &swept, &truth);
            assert!(error < tolerance, "scene {seed}, {precision:?}: {error:e}");
        }
    }
}

#[test]
fn nobody_and_somebody_alone() {
    let bx = &boxes()[0];
    for rows in [0, 1] {
        let mut particles = Particles::new(&FIELDS, rows);
        let list = ClusterList::from_clusters(0..rows, false, Coding::Plain, &vec![vec![0]; rows]);
        let radius = vec![1.0; rows];
        let pass = Pass { bx, radius: Radii::Each(&radius), precision: Precision::Mixed, active: None };
        let law = probe_either::Law { strength: 1.0 };
        let list = NeighborList::Clustered(list);
        Sweep::new(&pass, &list).run(&law, &mut particles);
        assert!(particles.scalar(Field::Potential).iter().all(|&potential| potential == 0.0));
    }
}
