//! Keys, order, gathered columns, running sums and the hierarchy over rows, on a device, against the processor.

use hilbrium::Result;
use hilbrium::device::hierarchy::{Hierarchy, Radii, levels_of};
use hilbrium::device::scan::Scan;
use hilbrium::device::sort::{Gather, Sort, inverse};
use hilbrium::device::{Buffer, Device};
use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};

/// Repeatable numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 * 2f64.powi(-53)
    }
}

const SIZES: [usize; 16] = [0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 255, 513, 3841, 9000];

/// Whole sorts take longer in the emulation: fewer sizes, about those of a tile. On a device there are many tiles, too,
/// that look back at each other while they run.
fn sizes_to_sort() -> Vec<usize> {
    let mut sizes = vec![0, 1, 2, 33, 255, 2049, 5632, 5633, 9000];
    if on_a_device() {
        sizes.extend([300_000, 5_000_000]);
    }
    sizes
}

fn on_a_device() -> bool {
    std::env::var("HILBRIUM_DEVICE_UNDER_TEST").is_ok_and(|device| device == "cuda")
}

fn on(device: &Device, column: &[f64]) -> Result<Buffer<f64>> {
    Buffer::from_host(device, column)
}

#[test]
fn keys_are_those_of_the_processor() -> Result<()> {
    let device = Device::under_test()?;
    let bx = SimulationBox {
        lower: Vec3d::new(-1.0, 0.1, 2.0),
        upper: Vec3d::new(1.0, 5.0, 2.7),
        boundary: [Boundary::Open; 3],
    };
    let mut numbers = Numbers(3);
    let nowhere = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, -0.0, 1.0, -1.0, 5.0, 2.7];
    for rows in SIZES {
        let mut columns: [Vec<f64>; 3] = [0, 1, 2].map(|d| {
            (0..rows).map(|_| bx.lower[d] + numbers.uniform() * (bx.upper[d] - bx.lower[d])).collect()
        });
        for column in &mut columns {
            for _ in 0..rows / 9 {
                column[numbers.below(rows as u64) as usize] = nowhere[numbers.below(10) as usize];
            }
        }
        let position = [&columns[0][..], &columns[1], &columns[2]];
        let mut expected = vec![0; rows];
        hilbert::keys(&bx, position, &mut expected);
        let [x, y, z] = [on(&device, position[0])?, on(&device, position[1])?, on(&device, position[2])?];
        let mut keys = Buffer::new(&device, rows)?;
        hilbrium::device::keys::keys(&device, &bx, [&x, &y, &z], &mut keys)?;
        assert_eq!(keys.download()?, expected, "{rows} rows");
    }
    Ok(())
}

/// Columns of keys below 2^63, of many kinds.
fn columns_of_keys(rows: usize, numbers: &mut Numbers) -> Vec<(&'static str, Vec<u64>)> {
    let mut made = |name, of: &mut dyn FnMut(usize, &mut Numbers) -> u64| {
        (name, (0..rows).map(|k| of(k, numbers)).collect::<Vec<u64>>())
    };
    vec![
        made("uniform", &mut |_, numbers| numbers.word() >> 1),
        made("equal", &mut |_, _| 7 << 20),
        made("sorted", &mut |k, _| (k as u64) << 39),
        made("reversed", &mut |k, _| ((rows - k) as u64) << 30),
        made("few distinct", &mut |_, numbers| numbers.below(5) << 50),
        made("equal above", &mut |_, numbers| (1 << 62) + numbers.below(100)),
        made("in threes", &mut |_, numbers| numbers.below(rows as u64 / 3 + 1) << 40),
        made("nearly sorted", &mut |k, numbers| {
            ((k as u64) << 39) + if numbers.below(50) == 0 { numbers.word() >> 3 } else { 0 }
        }),
    ]
}

#[test]
fn rows_are_in_the_order_of_key_and_identity() -> Result<()> {
    let device = Device::under_test()?;
    let mut numbers = Numbers(11);
    for rows in sizes_to_sort() {
        for (name, keys) in columns_of_keys(rows, &mut numbers) {
            // identities in an order that has nothing to do with that of the rows
            let id: Vec<u64> = (0..rows as u64).map(|k| (k * 7919 + 13) % 1_000_003).collect();
            let ids = Buffer::from_host(&device, &id)?;
            for named in [false, true] {
                let mut expected: Vec<u32> = (0..rows as u32).collect();
                expected.sort_by_key(|&row| (keys[row as usize], if named { id[row as usize] } else { 0 }));
                let keys_in_order: Vec<u64> = expected.iter().map(|&row| keys[row as usize]).collect();
                let moved = expected.iter().enumerate().any(|(k, &row)| k != row as usize);
                let mut sort = Sort::new(&device)?;
                // a second time with the digits that the first one found to be needed
                for turn in 0..if rows < 300 { 2 } else { 1 } {
                    let what = format!("{rows} rows, {name}, identities {named}, turn {turn}");
                    let mut sorted = Buffer::from_host(&device, &keys)?;
                    let changed = sort.run(&mut sorted, named.then_some(&ids))?;
                    assert_eq!(sort.rows().download()?, expected, "{what}");
                    assert_eq!(sorted.download()?, keys_in_order, "{what}");
                    assert!(changed || !moved, "{what}: a change that is not told");
                    assert!(!(changed && name == "sorted"), "{what}: sorted rows are left");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn columns_are_gathered_and_orders_inverted() -> Result<()> {
    let device = Device::under_test()?;
    let mut numbers = Numbers(5);
    let mut gather = Gather::new(&device);
    for rows in [0usize, 1, 33, 300] {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        for k in (1..rows).rev() {
            order.swap(k, numbers.below(k as u64 + 1) as usize);
        }
        let doubles: Vec<Vec<f64>> =
            (0..11).map(|_| (0..rows).map(|_| numbers.uniform()).collect()).collect();
        let words: Vec<u64> = (0..rows).map(|_| numbers.word()).collect();
        let on_device = Buffer::from_host(&device, &order)?;
        let mut columns = doubles.iter().map(|column| on(&device, column)).collect::<Result<Vec<_>>>()?;
        gather.doubles(&on_device, &mut columns)?;
        for (column, before) in columns.iter().zip(&doubles) {
            let expected: Vec<f64> = order.iter().map(|&row| before[row as usize]).collect();
            assert_eq!(column.download()?, expected);
        }
        let mut column = Buffer::from_host(&device, &words)?;
        gather.words(&on_device, [&mut column])?;
        assert_eq!(column.download()?, order.iter().map(|&row| words[row as usize]).collect::<Vec<_>>());
        let places = inverse(&on_device)?.download()?;
        assert!(order.iter().enumerate().all(|(k, &row)| places[row as usize] as usize == k));
    }
    Ok(())
}

#[test]
fn sums_run_and_marked_rows_are_found() -> Result<()> {
    let device = Device::under_test()?;
    let mut numbers = Numbers(17);
    let mut scan = Scan::new(&device)?;
    let many = if on_a_device() { 20_000_000 } else { 5000 };
    for rows in [0usize, 1, 3, 4, 1023, 1024, 1025, 40_000, many] {
        let counts: Vec<u32> = (0..rows).map(|_| numbers.word() as u32).collect();
        let mut sums = Buffer::new(&device, 0)?;
        scan.sums(&Buffer::from_host(&device, &counts)?, &mut sums)?;
        let mut expected = vec![0u64];
        expected.extend(counts.iter().scan(0, |sum, &count| {
            *sum += u64::from(count);
            Some(*sum)
        }));
        assert_eq!(sums.download()?, expected, "{rows} counts");

        for one_in in [1, 2, 300] {
            let marks: Vec<u8> = (0..rows)
                .map(|_| if numbers.below(one_in) == 0 { numbers.word() as u8 | 1 } else { 0 })
                .collect();
            let expected: Vec<u32> = (0..rows as u32).filter(|&row| marks[row as usize] != 0).collect();
            let marks = Buffer::from_host(&device, &marks)?;
            let mut found = Buffer::new(&device, 0)?;
            assert_eq!(scan.marked(&marks, &mut found)?, expected.len());
            assert_eq!(found.download()?, expected, "{rows} rows, one in {one_in}");
        }
    }
    Ok(())
}

/// As the clusters of the processor round, src/neighbors/cluster.rs.
fn rounded_up(length: f64) -> f32 {
    (length * (1.0 + 2e-7)) as f32 + f32::MIN_POSITIVE
}

/// Center, half edges and largest radius of some rows.
fn box_of(
    position: &[Vec<f64>; 3],
    radius: &[f64],
    id: &[u64],
    rows: std::ops::Range<usize>,
    unit: f64,
) -> ([f64; 3], [f32; 4]) {
    let rows: Vec<usize> = rows.filter(|&row| id[row] != u64::MAX).collect();
    if rows.is_empty() {
        return ([0.0; 3], [0.0, 0.0, 0.0, -1.0]);
    }
    let lower = [0, 1, 2].map(|d| rows.iter().map(|&row| position[d][row]).fold(f64::INFINITY, f64::min));
    let upper = [0, 1, 2].map(|d| rows.iter().map(|&row| position[d][row]).fold(f64::NEG_INFINITY, f64::max));
    let center = [0, 1, 2].map(|d| 0.5 * lower[d] + 0.5 * upper[d]);
    let half = [0, 1, 2].map(|d| rounded_up((center[d] - lower[d]).max(upper[d] - center[d]) / unit));
    let radius = rows.iter().map(|&row| radius[row]).fold(0.0, f64::max);
    (center, [half[0], half[1], half[2], rounded_up(radius / unit)])
}

#[test]
fn nodes_hold_their_rows() -> Result<()> {
    let device = Device::under_test()?;
    let mut numbers = Numbers(23);
    let mut hierarchy = Hierarchy::new(&device)?;
    for rows in SIZES.into_iter().chain([512, 4096, 4097, 40_000]) {
        // some ghosts, at places that are no numbers; now and then a whole cluster and super-cluster of them
        let ghost =
            |row: usize| row % 11 == 3 || (16..24).contains(&(row % 500)) || (640..704).contains(&row);
        let id: Vec<u64> = (0..rows).map(|row| if ghost(row) { u64::MAX } else { row as u64 }).collect();
        let length = 10f64.powi(numbers.below(40) as i32 - 20);
        let position = [0, 1, 2].map(|_| {
            (0..rows)
                .map(|row| if ghost(row) { f64::NAN } else { (numbers.uniform() - 0.3) * length })
                .collect::<Vec<_>>()
        });
        let radius: Vec<f64> =
            (0..rows).map(|row| if ghost(row) { 1e30 } else { numbers.uniform() * length * 0.1 }).collect();
        let [x, y, z] = [on(&device, &position[0])?, on(&device, &position[1])?, on(&device, &position[2])?];
        let (radii, ids) = (on(&device, &radius)?, Buffer::from_host(&device, &id)?);
        let (unit, largest) = hierarchy.unit_of(Radii::Each(&radii), Some(&ids), rows)?;
        let of_all = (0..rows).filter(|&row| !ghost(row)).map(|row| radius[row]).fold(0.0, f64::max);
        assert_eq!(largest, of_all, "{rows} rows");
        hierarchy.build([&x, &y, &z], Radii::Each(&radii), Some(&ids), rows, unit)?;

        let (center, extent, nodes) =
            (hierarchy.center().download()?, hierarchy.extent().download()?, hierarchy.nodes());
        assert_eq!((center.len(), extent.len()), (3 * nodes, nodes));
        assert_eq!(hierarchy.levels(), levels_of(rows));
        let (mut size, mut offset) = (8, 0);
        for level in hierarchy.levels() {
            assert_eq!((level.offset, level.count), (offset, rows.div_ceil(size)), "{rows} rows");
            assert!(
                level.padded % 8 == 0
                    && level.padded >= level.count.max(1)
                    && level.padded < level.count + 8 + 8
            );
            for node in 0..level.padded {
                let of_node = (node * size).min(rows)..((node + 1) * size).min(rows);
                let (middle, reach) = box_of(&position, &radius, &id, of_node, unit);
                let element = offset + node;
                let found = [0, 1, 2].map(|d| center[d * nodes + element]);
                assert_eq!((found, extent[element]), (middle, reach), "{rows} rows, node {node} of {size}");
            }
            (size, offset) = (size * 8, offset + level.padded);
        }
        assert_eq!(offset, nodes);
        assert!(hierarchy.levels().len() >= 2 && hierarchy.levels().last().is_some_and(|top| top.count <= 8));

        // one radius for all, and no ghosts: those of before become particles far away
        let everywhere = position
            .clone()
            .map(|column| column.iter().map(|x| if x.is_nan() { 3.0 } else { *x }).collect::<Vec<_>>());
        let [x, y, z] =
            [on(&device, &everywhere[0])?, on(&device, &everywhere[1])?, on(&device, &everywhere[2])?];
        hierarchy.build([&x, &y, &z], Radii::All(0.3), None, rows, 0.25)?;
        let (center, extent) = (hierarchy.center().download()?, hierarchy.extent().download()?);
        let (all, no_ghosts) = (vec![0.3; rows], vec![0; rows]);
        for cluster in 0..rows.div_ceil(8) {
            let of_node = 8 * cluster..(8 * cluster + 8).min(rows);
            let (middle, reach) = box_of(&everywhere, &all, &no_ghosts, of_node, 0.25);
            assert_eq!(([0, 1, 2].map(|d| center[d * nodes + cluster]), extent[cluster]), (middle, reach));
        }
    }
    Ok(())
}
