//! Potentials of a mesh that is distributed over several devices, a rank each, against the processors' on one
//! rank. Runs on the emulation, and on a GPU with HILBRIUM_DEVICE_UNDER_TEST=cuda, which the ranks then
//! share.

use hilbrium::comm::{Communicator, run_local};
use hilbrium::device::exchange::Exchange;
use hilbrium::device::mesh::{DevicePotential, DeviceSpreader, InterpolationTarget, MeshParticles, Method};
use hilbrium::device::{Buffer, Device};
use hilbrium::far::mesh::brick::Brick;
use hilbrium::far::mesh::{Influence, MeshGeometry, MeshPotential, MeshSettings, Quantity, Window, naive};
use hilbrium::pair::Precision;
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};
use hilbrium::{Error, Result};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

const BOTH: [Precision; 2] = [Precision::Mixed, Precision::Double];
const QUANTITIES: [Quantity; 2] = [Quantity::Potential, Quantity::Virial];

fn the_box() -> SimulationBox {
    SimulationBox {
        lower: Vec3d::new(-1.0, 0.5, 2.0),
        upper: Vec3d::new(2.0, 4.5, 4.5),
        boundary: [Boundary::Periodic; 3],
    }
}

fn settings(points: [usize; 3], order: usize) -> MeshSettings {
    MeshSettings { points, order, splitting: 1.7 }
}

/// Charges at random places along the Hilbert curve, some of them outside of the box: x, y, z and charge.
fn sample(count: usize) -> Vec<[f64; 4]> {
    let (bx, mut random) = (the_box(), ChaCha8Rng::seed_from_u64(11));
    let mut charges: Vec<[f64; 4]> = (0..count)
        .map(|_| {
            let [x, y, z] =
                [0, 1, 2].map(|d| bx.lower[d] + (bx.upper[d] - bx.lower[d]) * random.random_range(-0.1..1.1));
            [x, y, z, random.random_range(-1.0..1.0)]
        })
        .collect();
    charges.sort_by_key(|charge| hilbert::key_of(&Vec3d::new(charge[0], charge[1], charge[2]), &bx));
    charges
}

/// About equal parts; the second one of three or more is empty.
fn part(count: usize, rank: usize, ranks: usize) -> Range<usize> {
    let border = |rank: usize| if rank == 2 && ranks > 2 { count / ranks } else { count * rank / ranks };
    border(rank)..border(rank + 1)
}

fn column(charges: &[[f64; 4]], k: usize) -> Vec<f64> {
    charges.iter().map(|charge| charge[k]).collect()
}

/// The processors' mesh, in double precision on one rank, of each quantity.
fn on_processors(settings: &MeshSettings, charges: &[[f64; 4]]) -> [Vec<f64>; 2] {
    let (bx, comm) = (the_box(), Communicator::solo());
    let (geometry, window) = (MeshGeometry::new(settings.points, &bx), Window::b_spline(settings.order));
    let [x, y, z, charge] = [0, 1, 2, 3].map(|k| column(charges, k));
    let mut potential = MeshPotential::<f64>::new(&comm, &bx, settings);
    QUANTITIES.map(|quantity| {
        let mut brick = Brick::whole(settings.points);
        brick.values = naive::spread(&geometry, &window, [&x, &y, &z], &charge);
        potential.convolve(&comm, &mut brick, quantity);
        brick.values
    })
}

/// Numbers of a mesh's precision as doubles.
fn numbers(bytes: &Buffer<u8>, precision: Precision) -> Result<Vec<f64>> {
    let bytes = bytes.download()?;
    Ok(match precision {
        Precision::Double => bytes.as_chunks().0.iter().map(|&word| f64::from_le_bytes(word)).collect(),
        Precision::Mixed => bytes.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word).into()).collect(),
    })
}

/// One rank's charges on its device.
struct OnDevice {
    exchange: Exchange,
    rows: Range<usize>,
    position: [Buffer<f64>; 3],
    charge: Buffer<f64>,
    spreader: DeviceSpreader,
    mesh: Buffer<u8>,
}

impl OnDevice {
    fn new(
        device: &Device,
        comm: &Communicator,
        settings: &MeshSettings,
        charges: &[[f64; 4]],
        precision: Precision,
    ) -> Result<Self> {
        let own = &charges[part(charges.len(), comm.rank(), comm.size())];
        let on = |k: usize| Buffer::from_host(device, &column(own, k));
        let (geometry, window) =
            (MeshGeometry::new(settings.points, &the_box()), Window::b_spline(settings.order));
        let spreader = DeviceSpreader::new(device, &geometry, &window, precision, Method::Particles)?;
        Ok(Self {
            exchange: Exchange::new(device, comm)?,
            rows: 0..own.len(),
            position: [on(0)?, on(1)?, on(2)?],
            charge: on(3)?,
            mesh: Buffer::new(device, spreader.mesh_bytes())?,
            spreader,
        })
    }

    /// Spreads and convolves.
    fn convolve(&mut self, potential: &mut DevicePotential, quantity: Quantity) -> Result<()> {
        let particles = MeshParticles { position: self.position.each_ref(), rows: self.rows.clone() };
        self.spreader.construct(&particles)?;
        self.spreader.spread(&particles, &self.charge, &mut self.mesh)?;
        potential.convolve(&self.exchange, &self.spreader, &particles, &mut self.mesh, quantity)
    }

    /// Forces and potentials that the mesh has at the charges.
    fn interpolated(&self) -> Result<Vec<[f64; 4]>> {
        let device = self.exchange.device();
        let particles = MeshParticles { position: self.position.each_ref(), rows: self.rows.clone() };
        let zeros = || Buffer::<f64>::zeros(device, self.rows.len());
        let results = [zeros()?, zeros()?, zeros()?, zeros()?];
        let [x, y, z, potential] = &results;
        let target = InterpolationTarget {
            weights: Some(&self.charge),
            force: Some([x, y, z]),
            force_factor: 1.0,
            potential: Some(potential),
            potential_factor: 1.0,
        };
        self.spreader.interpolate(&particles, &self.mesh, &target)?;
        let columns = [x.download()?, y.download()?, z.download()?, potential.download()?];
        Ok(self.rows.clone().map(|row| [0, 1, 2, 3].map(|k| columns[k][row])).collect())
    }

    /// The largest error at the planes that the charges touch, over the largest value.
    fn error(&self, expected: &[f64], settings: &MeshSettings, precision: Precision) -> Result<f64> {
        let geometry = MeshGeometry::new(settings.points, &the_box());
        let [planes, y, z] = settings.points;
        let largest = expected.iter().fold(0.0, |largest, value| f64::max(largest, value.abs()));
        let found = numbers(&self.mesh, precision)?;
        let mut worst: f64 = 0.0;
        for x in self.position[0].download()? {
            for k in 0..settings.order {
                let plane = (geometry.locate(0, x).0 + planes - k) % planes;
                for point in plane * y * z..(plane + 1) * y * z {
                    let error = (found[point] - expected[point]).abs() / largest;
                    worst = if error > worst || error.is_nan() { error } else { worst };
                }
            }
        }
        Ok(worst)
    }
}

/// Largest error of a mesh over its largest value.
fn bound(precision: Precision) -> f64 {
    if precision == Precision::Double { 2e-14 } else { 5e-6 }
}

/// Largest difference over the largest size of vectors.
fn apart(found: &[[f64; 4]], expected: &[[f64; 4]], columns: Range<usize>) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().flat_map(|row| &row[columns.clone()]).fold(0.0, |a, b| f64::max(a, b.abs()));
    let pairs =
        found.iter().zip(expected).flat_map(|(a, b)| columns.clone().map(move |k| (a[k] - b[k]).abs()));
    pairs.fold(0.0, |worst, error| if error > worst || error.is_nan() { error } else { worst }) / size
}

/// Forces and potentials of charges by the processors' mesh of potentials.
fn interpolated_on_processors(settings: &MeshSettings, charges: &[[f64; 4]], mesh: &[f64]) -> Vec<[f64; 4]> {
    let (geometry, window) =
        (MeshGeometry::new(settings.points, &the_box()), Window::b_spline(settings.order));
    let [x, y, z] = [0, 1, 2].map(|k| column(charges, k));
    let at = naive::interpolate(&geometry, &window, mesh, [&x, &y, &z]);
    let of = |([potential, slopes @ ..], charge): (&[f64; 4], &[f64; 4])| {
        let [x, y, z] = slopes.map(|slope| -charge[3] * slope);
        [x, y, z, charge[3] * potential]
    };
    at.iter().zip(charges).map(of).collect()
}

/// Meshes with planes and ky that no number of ranks divides, planes of an odd number of points, fewer planes
/// than ranks, and several words of cells; order and number of charges.
const SHAPES: [([usize; 3], usize, usize); 4] =
    [([8, 9, 10], 4, 120), ([13, 9, 7], 5, 120), ([32, 12, 15], 4, 120), ([70, 6, 8], 4, 2500)];

#[test]
fn meshes_over_ranks_have_the_potentials_and_forces_of_processors() {
    for (points, order, count) in SHAPES {
        let (settings, charges) = (settings(points, order), sample(count));
        let expected = on_processors(&settings, &charges);
        let forces = interpolated_on_processors(&settings, &charges, &expected[0]);
        for (ranks, precision) in [1, 2, 3, 5, 10].into_iter().flat_map(|ranks| BOTH.map(|p| (ranks, p))) {
            let results = run_local(ranks, |comm| {
                let device = Device::under_test().unwrap();
                let mut own = OnDevice::new(&device, &comm, &settings, &charges, precision).unwrap();
                let mut potential =
                    DevicePotential::new(&device, &own.exchange, &the_box(), &settings, precision).unwrap();
                assert_eq!(potential.reason(), None);
                // twice, since the factors of the virial come later
                let mut found = Vec::new();
                for k in [0, 1, 0] {
                    own.convolve(&mut potential, QUANTITIES[k]).unwrap();
                    let error = own.error(&expected[k], &settings, precision).unwrap();
                    let what = format!(
                        "{points:?} {precision:?} {:?} rank {} of {ranks}",
                        QUANTITIES[k],
                        comm.rank()
                    );
                    assert!(error < bound(precision), "{what}: {error:e}");
                    found = own.interpolated().unwrap();
                }
                assert!(potential.bytes() > 0);
                found
            });
            let found = results.concat();
            for columns in [0..3, 3..4] {
                let error = apart(&found, &forces, columns.clone());
                println!("{points:?} {precision:?} {ranks} ranks, columns {columns:?}: {error:.1e}");
                assert!(error < 4.0 * bound(precision), "{points:?} {precision:?} {ranks} ranks: {error:e}");
            }
        }
    }
}

/// The transforms of the hosts and those of the devices agree, on one rank and on several.
#[test]
fn hosts_transform_as_devices_do() {
    let (settings, charges) = (settings([13, 8, 9], 4), sample(90));
    let expected = on_processors(&settings, &charges);
    for (ranks, precision) in [(1, Precision::Double), (3, Precision::Mixed), (3, Precision::Double)] {
        run_local(ranks, |comm| {
            let device = Device::under_test().unwrap();
            let mut own = OnDevice::new(&device, &comm, &settings, &charges, precision).unwrap();
            let reason = "this is a test".to_string();
            let mut potential = DevicePotential::on_hosts(&comm, &the_box(), &settings, precision, reason);
            assert_eq!((potential.reason(), potential.bytes()), (Some("this is a test"), 0));
            for (quantity, expected) in QUANTITIES.into_iter().zip(&expected) {
                own.convolve(&mut potential, quantity).unwrap();
                let error = own.error(expected, &settings, precision).unwrap();
                assert!(error < bound(precision), "{ranks} ranks {precision:?} {quantity:?}: {error:e}");
            }
        });
    }
}

/// The same charges give the same bits again, and each rank has the same mesh at planes that several touch.
#[test]
fn meshes_over_ranks_are_reproducible() {
    let (settings, charges) = (settings([13, 9, 10], 5), sample(200));
    let expected = run_local(4, |comm| {
        let device = Device::under_test().unwrap();
        let mut own = OnDevice::new(&device, &comm, &settings, &charges, Precision::Double).unwrap();
        let (geometry, window) = (MeshGeometry::new(settings.points, &the_box()), Window::b_spline(5));
        own.spreader =
            DeviceSpreader::new(&device, &geometry, &window, Precision::Double, Method::OrderedTiles)
                .unwrap();
        let mut potential =
            DevicePotential::new(&device, &own.exchange, &the_box(), &settings, Precision::Double).unwrap();
        let mut meshes = Vec::new();
        for _ in 0..2 {
            own.convolve(&mut potential, Quantity::Potential).unwrap();
            meshes.push(own.mesh.download().unwrap());
        }
        let x = own.position[0].download().unwrap();
        let touched: Vec<bool> = (0..13)
            .map(|plane| x.iter().any(|&x| (0..5).any(|k| (geometry.locate(0, x).0 + 13 - k) % 13 == plane)))
            .collect();
        let plane = 9 * 10 * 8;
        let bytes = |mesh: &[u8]| -> Vec<Option<Vec<u8>>> {
            let planes = mesh.chunks_exact(plane).zip(&touched);
            planes.map(|(bytes, &touched)| touched.then(|| bytes.to_vec())).collect()
        };
        assert_eq!(bytes(&meshes[0]), bytes(&meshes[1]), "rank {}", comm.rank());
        bytes(&meshes[0])
    });
    let mut shared = 0;
    for plane in 0..13 {
        let found: Vec<&Vec<u8>> = expected.iter().filter_map(|planes| planes[plane].as_ref()).collect();
        assert!(found.iter().all(|bytes| *bytes == found[0]), "plane {plane}");
        shared += found.len().saturating_sub(1);
    }
    assert!(shared > 5, "ranks touch common planes");
}

/// An error of one rank is one of all, and none waits for another.
#[test]
fn an_error_of_one_rank_is_one_of_all() {
    let (settings, charges) = (settings([8, 9, 10], 4), sample(60));
    run_local(3, |comm| {
        let device = Device::under_test().unwrap();
        let mut own = OnDevice::new(&device, &comm, &settings, &charges, Precision::Mixed).unwrap();
        let mut potential =
            DevicePotential::new(&device, &own.exchange, &the_box(), &settings, Precision::Mixed).unwrap();
        own.convolve(&mut potential, Quantity::Potential).unwrap();
        // more rows than a device numbers
        let rows = if comm.rank() == 1 { 0..1 << 33 } else { own.rows.clone() };
        let particles = MeshParticles { position: own.position.each_ref(), rows };
        let failed = potential
            .convolve(&own.exchange, &own.spreader, &particles, &mut own.mesh, Quantity::Potential)
            .unwrap_err();
        assert_eq!(matches!(failed, Error::Elsewhere), comm.rank() != 1, "{failed}");
        own.convolve(&mut potential, Quantity::Virial).unwrap();
    });
}

/// The way of exchange, and the largest error over the ranks of a mesh that processes with a device each
/// have.
#[cfg(feature = "mpi")]
fn over_processes(comm: &Communicator, device: &Device) -> (String, f64) {
    let (settings, charges) = (settings([13, 18, 20], 5), sample(300));
    let mut own = OnDevice::new(device, comm, &settings, &charges, Precision::Double).unwrap();
    let mut potential =
        DevicePotential::new(device, &own.exchange, &the_box(), &settings, Precision::Double).unwrap();
    assert_eq!(potential.reason(), None);
    let mut worst = [0.0];
    for (quantity, expected) in QUANTITIES.into_iter().zip(on_processors(&settings, &charges)) {
        own.convolve(&mut potential, quantity).unwrap();
        worst[0] = f64::max(worst[0], own.error(&expected, &settings, Precision::Double).unwrap());
    }
    comm.all_max(&mut worst);
    (own.exchange.way().to_string(), worst[0])
}

/// On emulated devices through MPI and through the hosts, and on GPUs through NCCL too.
#[test]
#[cfg(feature = "mpi")]
fn processes_with_a_device_each_share_a_mesh() {
    use crate::common::processes::{plays, under_mpirun};
    use crate::common::skip::skip;
    let test = "processes_with_a_device_each_share_a_mesh";
    let gpus = || {
        let under_test = std::env::var("HILBRIUM_DEVICE_UNDER_TEST").is_ok_and(|device| device == "cuda");
        if under_test { hilbrium::device::cuda::count() as usize } else { 0 }
    };
    if plays(test) {
        let comm = Communicator::world().unwrap();
        let device = match gpus() {
            0 => Device::emulated().unwrap(),
            count => Device::cuda((comm.of_host().0 % count) as u32).unwrap(),
        };
        let (way, error) = over_processes(&comm, &device);
        println!("rank {} of {}: {way}: error {error:e}", comm.rank(), comm.size());
        assert!(error < bound(Precision::Double), "{error:e}");
        return;
    }
    let ways: &[&str] = match gpus() {
        0 => &["cuda-aware", "staged"],
        1 => &["staged"],
        _ => &["nccl", "staged"],
    };
    if gpus() == 1 {
        skip("NCCL needs a GPU for every rank, and there is one");
    }
    let ranks = if gpus() > 1 { gpus() } else { 3 };
    for way in ways {
        let output = under_mpirun(module_path!(), test, ranks, &[("HILBRIUM_EXCHANGE", way)]);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(printed.matches(": error ").count(), ranks, "{printed}");
    }
}

/// The mesh cos(k x), to which all ranks contribute, becomes a multiple of itself: by the factor of the wave.
#[test]
fn a_wave_is_multiplied_by_its_factor() {
    let points = [9, 8, 10];
    let settings = settings(points, 4);
    let influence = Influence::new(&the_box(), &settings);
    for modes in [[1, 0, 0], [-2, 3, 4], [4, -1, 5], [0, 4, 1]] {
        let wave: Vec<f64> = (0..720)
            .map(|index| {
                let place = [index / 80, index / 10 % 8, index % 10];
                let turns: f64 = (0..3).map(|d| modes[d] as f64 * place[d] as f64 / points[d] as f64).sum();
                (std::f64::consts::TAU * turns).cos()
            })
            .collect();
        run_local(3, |comm| {
            let device = Device::under_test().unwrap();
            // charges all over the box touch all planes
            let all = sample(200);
            let mut own = OnDevice::new(&device, &comm, &settings, &all, Precision::Double).unwrap();
            let part: Vec<f64> = wave.iter().map(|value| value / comm.size() as f64).collect();
            own.position = [0, 1, 2].map(|k| Buffer::from_host(&device, &column(&all, k)).unwrap());
            own.rows = 0..200;
            let mut potential =
                DevicePotential::new(&device, &own.exchange, &the_box(), &settings, Precision::Double)
                    .unwrap();
            let bytes: Vec<u8> = part.iter().flat_map(|value| value.to_le_bytes()).collect();
            own.mesh.upload(&bytes).unwrap();
            let particles = MeshParticles { position: own.position.each_ref(), rows: own.rows.clone() };
            potential
                .convolve(&own.exchange, &own.spreader, &particles, &mut own.mesh, Quantity::Potential)
                .unwrap();
            let factor = |modes: [i64; 3]| influence.factor(modes, Quantity::Potential);
            let own_factor = factor(modes.map(i64::from));
            let expected: Vec<f64> = wave.iter().map(|value| 720.0 * own_factor * value).collect();
            let error = own.error(&expected, &settings, Precision::Double).unwrap();
            // rounding adds other waves, some with larger factors
            let largest = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]].map(factor).map(f64::abs);
            let noise = 1e-15 * largest.into_iter().fold(0.0, f64::max) / own_factor.abs();
            assert!(error < 1e-15 + noise, "{modes:?}: {error:e}, not {noise:e}");
        });
    }
}
