//! Neighbor lists of clusters on a device: the same bytes as on the processor.

use hilbrium::Result;
use hilbrium::device::hierarchy::{Hierarchy, Radii};
use hilbrium::device::list::{ListBuilder, Records, Search};
use hilbrium::device::{Buffer, Device};
use hilbrium::neighbors::{CLUSTER, ClusterList, Coding, ListRequest, SUPER_CLUSTER};
use hilbrium::space::Boundary::{Open, Periodic};
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

const OPEN: [Boundary; 3] = [Open; 3];
const PERIODIC: [Boundary; 3] = [Periodic; 3];
const MIXED: [Boundary; 3] = [Periodic, Open, Periodic];

/// Particles in the order of their keys, and which of them are owned.
struct Sample {
    bx: SimulationBox,
    position: [Vec<f64>; 3],
    radius: Vec<f64>,
    id: Vec<u64>,
    keys: Vec<u64>,
    owned: Range<usize>,
}

impl Sample {
    fn new(edge: f64, boundary: [Boundary; 3], points: &[Vec3d], radius: &[f64]) -> Self {
        let bx = SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(edge), boundary };
        let column = |d: usize| points.iter().map(|point| point[d]).collect::<Vec<f64>>();
        let unsorted = [0, 1, 2].map(column);
        let mut unsorted_keys = vec![0; points.len()];
        hilbert::keys(&bx, [0, 1, 2].map(|d| &unsorted[d][..]), &mut unsorted_keys);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by_key(|&row| unsorted_keys[row]);
        let sorted = |column: &[f64]| order.iter().map(|&row| column[row]).collect::<Vec<f64>>();
        Self {
            bx,
            position: [0, 1, 2].map(|d| sorted(&unsorted[d])),
            radius: sorted(radius),
            id: (0..points.len() as u64).collect(),
            keys: order.iter().map(|&row| unsorted_keys[row]).collect(),
            owned: 0..points.len(),
        }
    }

    /// Makes a share of the rows ghosts, at a place where they would count.
    fn with_ghosts(mut self, rng: &mut ChaCha8Rng, share: f64) -> Self {
        for row in 0..self.id.len() {
            if rng.random_bool(share) {
                self.id[row] = u64::MAX;
                self.position.iter_mut().for_each(|column| column[row] = 0.5);
            }
        }
        self
    }

    fn owning(mut self, owned: Range<usize>) -> Self {
        self.owned = owned;
        self
    }

    fn request<'a>(&'a self, radius: &'a [f64], symmetric: bool) -> ListRequest<'a> {
        ListRequest {
            bx: &self.bx,
            position: [&self.position[0], &self.position[1], &self.position[2]],
            radius,
            id: &self.id,
            keys: &self.keys,
            owned: self.owned.clone(),
            symmetric,
            first_with_lower_halos: None,
            coding: Coding::Nibble,
        }
    }
}

/// A sample's columns on a device, with a hierarchy for radii.
struct OnDevice {
    position: [Buffer<f64>; 3],
    radius: Buffer<f64>,
    id: Buffer<u64>,
    hierarchy: Hierarchy,
}

impl OnDevice {
    fn new(device: &Device, sample: &Sample, radius: &[f64]) -> Result<Self> {
        let [x, y, z] = &sample.position;
        let position =
            [Buffer::from_host(device, x)?, Buffer::from_host(device, y)?, Buffer::from_host(device, z)?];
        let (radius, id) = (Buffer::from_host(device, radius)?, Buffer::from_host(device, &sample.id)?);
        let mut hierarchy = Hierarchy::new(device)?;
        let rows = sample.id.len();
        let (unit, _) = hierarchy.unit_of(Radii::Each(&radius), Some(&id), rows)?;
        hierarchy.build(
            [&position[0], &position[1], &position[2]],
            Radii::Each(&radius),
            Some(&id),
            rows,
            unit,
        )?;
        Ok(Self { position, radius, id, hierarchy })
    }

    fn search<'a>(&'a self, sample: &'a Sample, symmetric: bool) -> Search<'a> {
        Search {
            rows: sample.id.len(),
            owned: sample.owned.clone(),
            symmetric,
            position: [&self.position[0], &self.position[1], &self.position[2]],
            radius: &self.radius,
            id: &self.id,
            center: self.hierarchy.center(),
            extent: self.hierarchy.extent(),
            unit: self.hierarchy.unit(),
            bx: &sample.bx,
        }
    }
}

/// Whether interior and boundary records are those without and with clusters behind the owned super-clusters.
fn assert_split(name: &str, sample: &Sample, list: &ClusterList, records: &Records) -> Result<()> {
    let Range { start, end } = sample.owned;
    assert_eq!(
        records.interior_and_boundary.is_some(),
        start == 0 && end < sample.id.len(),
        "{name}: interior and boundary"
    );
    let Some([interior, boundary]) = &records.interior_and_boundary else { return Ok(()) };
    let first = end.next_multiple_of(SUPER_CLUSTER) / CLUSTER;
    let (mut expected, mut entries) = ([Vec::new(), Vec::new()], Vec::new());
    for record in 0..list.super_clusters().len() {
        list.decode(record, &mut entries);
        let reaches = entries.iter().any(|entry| entry.cluster as usize >= first);
        expected[usize::from(reaches)].push(record as u32);
    }
    assert_eq!([interior.download()?, boundary.download()?], expected, "{name}: interior and boundary");
    Ok(())
}

fn assert_same(name: &str, list: &ClusterList, records: &Records) -> Result<()> {
    let (data, offsets, counts) = list.records();
    assert_eq!(records.super_clusters, list.super_clusters(), "{name}");
    assert_eq!(records.counts.download()?, counts, "{name}: entries");
    assert_eq!(records.offsets.download()?, offsets, "{name}: offsets");
    assert_eq!(records.length as usize, data.len(), "{name}: bytes");
    assert!(records.data.download()?[..data.len()] == *data, "{name}: the code");
    Ok(())
}

/// Entries of all super-clusters.
fn entries_of(list: &ClusterList) -> u64 {
    let (_, _, counts) = list.records();
    counts.iter().map(|&count| u64::from(count)).sum()
}

/// Builds half and full lists; returns the entries of both.
fn compare(name: &str, device: &Device, sample: &Sample) -> Result<u64> {
    // a record by one warp, or shared by several
    let mut builders = [1, 4].map(|warps| ListBuilder::new(device).unwrap().with_warps_of_record(warps));
    let on_device = OnDevice::new(device, sample, &sample.radius)?;
    let mut entries = 0;
    for symmetric in [true, false] {
        let name = format!("{name}, symmetric {symmetric}");
        let list = ClusterList::build(&sample.request(&sample.radius, symmetric))?;
        let mut records = Records::new(device)?;
        // twice: with the first slots, and with those chosen by what the first records took
        for builder in &mut builders {
            for _ in 0..2 {
                builder.build(&on_device.search(sample, symmetric), &mut records)?;
                assert_same(&name, &list, &records)?;
                assert_split(&name, sample, &list, &records)?;
            }
        }
        entries += entries_of(&list);
    }
    Ok(entries)
}

fn uniform(rng: &mut ChaCha8Rng, count: usize, edge: f64) -> Vec<Vec3d> {
    (0..count).map(|_| Vec3d::from_fn(|_, _| rng.random::<f64>() * edge)).collect()
}

fn lattice(cells: usize, edge: f64) -> Vec<Vec3d> {
    const SITES: [[f64; 3]; 4] = [[0.25; 3], [0.75, 0.75, 0.25], [0.75, 0.25, 0.75], [0.25, 0.75, 0.75]];
    let cell =
        |k: usize| Vec3d::new((k / cells / cells) as f64, (k / cells % cells) as f64, (k % cells) as f64);
    (0..cells.pow(3)).flat_map(|k| SITES.map(|site| (cell(k) + Vec3d::from(site)) * edge)).collect()
}

/// A few particles far out around a dense middle.
fn clustered(rng: &mut ChaCha8Rng, count: usize, edge: f64) -> Vec<Vec3d> {
    let place = |rng: &mut ChaCha8Rng| {
        let away = 0.5 * edge * rng.random::<f64>().powi(3);
        let direction = Vec3d::from_fn(|_, _| rng.random::<f64>() - 0.5).normalize();
        Vec3d::repeat(0.5 * edge) + direction * away
    };
    (0..count).map(|_| place(rng)).collect()
}

#[test]
fn few_rows() -> Result<()> {
    let device = Device::under_test()?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for count in [0usize, 1, 2, 7, 8, 9, 63, 64, 65, 513] {
        let edge = (count.max(1) as f64 / 0.8).cbrt();
        let radius = vec![f64::min(2.5, 0.49 * edge); count];
        for boundary in [OPEN, PERIODIC, MIXED] {
            let sample = Sample::new(edge, boundary, &uniform(&mut rng, count, edge), &radius);
            let entries = compare(&format!("{count} rows, {boundary:?}"), &device, &sample)?;
            assert!((entries > 0) == (count > 1) || count == 2, "a list of {count} rows");
        }
    }
    Ok(())
}

#[test]
fn distributions_and_radii() -> Result<()> {
    let device = Device::under_test()?;
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let count = 1500;
    let edge = (count as f64).cbrt();
    for boundary in [OPEN, PERIODIC] {
        let points = uniform(&mut rng, count, edge);
        let various: Vec<f64> = (0..count).map(|_| 0.3 * 10f64.powf(rng.random())).collect();
        compare("uniform", &device, &Sample::new(edge, boundary, &points, &vec![2.0; count]))?;
        compare("various radii", &device, &Sample::new(edge, boundary, &points, &various))?;
        compare(
            "nearly half the box",
            &device,
            &Sample::new(edge, boundary, &points, &vec![0.45 * edge; count]),
        )?;
        let few: Vec<f64> =
            (0..count).map(|k| if k % 500 == 3 { 0.45 * edge } else { 0.02 * edge }).collect();
        compare("few wide radii", &device, &Sample::new(edge, boundary, &points, &few))?;
        let points = clustered(&mut rng, count, 100.0);
        compare("clustered", &device, &Sample::new(100.0, boundary, &points, &vec![1.0; count]))?;
        let growing: Vec<f64> =
            points.iter().map(|point| 0.2 + 0.2 * (point - Vec3d::repeat(50.0)).norm()).collect();
        compare("clustered, radii that grow", &device, &Sample::new(100.0, boundary, &points, &growing))?;
    }
    Ok(())
}

#[test]
fn exact_distances() -> Result<()> {
    let device = Device::under_test()?;
    for boundary in [OPEN, PERIODIC] {
        let (cells, edge) = (6, 1.6795962);
        let points = lattice(cells, edge);
        let of = |scale: f64, radius: f64| {
            let scaled: Vec<Vec3d> = points.iter().map(|point| point * scale).collect();
            Sample::new(cells as f64 * edge * scale, boundary, &scaled, &vec![radius * scale; points.len()])
        };
        compare("lattice", &device, &of(1.0, 3.8))?;
        // radii are distances that occur: many pairs are just out of reach, or just within
        for scale in [1.0, 1e12, 1e-12] {
            compare(&format!("lattice at a shell, times {scale}"), &device, &of(scale, 2.0 * edge))?;
        }
        let line: Vec<Vec3d> = (0..700).map(|k| Vec3d::new(f64::from(k) * 0.01, 3.0, 3.0)).collect();
        compare("a line", &device, &Sample::new(10.0, boundary, &line, &[0.5; 700]))?;
        let point = vec![Vec3d::repeat(3.0); 300];
        compare("one point", &device, &Sample::new(10.0, boundary, &point, &[1.0; 300]))?;
        compare("one point, no radius", &device, &Sample::new(10.0, boundary, &point, &[0.0; 300]))?;
    }
    Ok(())
}

#[test]
fn ghosts_and_owned_rows() -> Result<()> {
    let device = Device::under_test()?;
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let count = 1500;
    let edge = (count as f64).cbrt();
    for boundary in [OPEN, PERIODIC] {
        for (share, owned) in
            [(0.05, 640..1111), (0.3, 64..count), (0.0, 0..700), (0.95, 0..count), (0.0, 640..640)]
        {
            let points = uniform(&mut rng, count, edge);
            let radius: Vec<f64> = (0..count).map(|_| 0.3 * 7f64.powf(rng.random())).collect();
            let sample = Sample::new(edge, boundary, &points, &radius).with_ghosts(&mut rng, share);
            compare(&format!("owned {owned:?}, {share} ghosts"), &device, &sample.owning(owned))?;
        }
    }
    Ok(())
}

/// The second time the slots are as short as most records, and longer ones overflow: more windows than the overflow holds
/// at first. The hierarchy has four levels.
#[test]
fn long_records() -> Result<()> {
    let device = Device::under_test()?;
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let count = 5000;
    let points = clustered(&mut rng, count, 50.0);
    let radius: Vec<f64> = (0..count).map(|k| if k % 250 == 0 { 20.0 } else { 0.01 }).collect();
    let sample = Sample::new(50.0, OPEN, &points, &radius);
    let list = ClusterList::build(&sample.request(&radius, false))?;
    let (_, offsets, _) = list.records();
    let mean = offsets[offsets.len() - 1] / (offsets.len() as u64 - 1);
    let slot = (mean + mean / 2).next_multiple_of(16).max(64);
    let longer = offsets.windows(2).filter(|pair| pair[1] - pair[0] > slot).count();
    assert!(
        longer > 16,
        "{longer} records are longer than a slot of {slot} bytes: they fit into the first overflow"
    );
    compare("long records", &device, &sample)?;
    compare("long records and rows of others", &device, &sample.owning(0..3100))?;
    Ok(())
}
