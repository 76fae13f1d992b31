//! Sweeps while fields of rows of others are on their way, against sweeps after they have come: threads as ranks with a
//! device each. Runs on the emulation, and on a GPU with HILBRIUM_DEVICE_UNDER_TEST=cuda.

use crate::common::domain_cases::{Cloud, Kind, boxes};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::device::columns::Columns;
use hilbrium::device::exchange::Exchange;
use hilbrium::device::list::Records;
use hilbrium::device::neighborhood::Neighborhood;
use hilbrium::device::sweep::{Pass, Sweep, SweepMemory};
use hilbrium::device::{Buffer, Device};
use hilbrium::laws::*;
use hilbrium::neighborhood::{InteractionRange, Method};
use hilbrium::neighbors::{CLUSTER, SUPER_CLUSTER, compress};
use hilbrium::pair::{Forces, Kernel, PairLaw, Precision};
use hilbrium::particles::Field;
use hilbrium::space::{SimulationBox, Vec3d};
use hilbrium::{Error, Result};

const STATE: [Field; 2] = [Field::Position, Field::SmoothingLength];

/// A lattice whose particles have moved a little, so that no two are close to each other.
fn cloud(bx: SimulationBox, count: usize) -> Cloud {
    let mut cloud = Cloud::new(Kind::Lattice, bx, count);
    // supports of a few particles would not fit the box
    cloud.smoothing.iter_mut().for_each(|length| *length = length.min(0.1));
    let edge = 0.2 / (count as f64).cbrt();
    for (k, position) in cloud.position.iter_mut().enumerate() {
        *position += Vec3d::from_fn(|d, _| edge * (1.7 * k as f64 + d as f64).sin().abs());
    }
    cloud
}

/// One rank's part of a cloud with its list.
struct Rank {
    bx: SimulationBox,
    columns: Columns,
    neighborhood: Neighborhood,
    cutoff: f64,
}

impl Rank {
    fn new(comm: &Communicator, cloud: &Cloud, cutoff: f64, symmetric: bool) -> Result<Self> {
        let device = Device::under_test()?;
        let exchange = Exchange::new(&device, comm)?;
        let mut columns = Columns::upload(&device, &cloud.slice(comm, |id| id / 7), &STATE)?;
        let reach = if cutoff > 0.0 { InteractionRange::Cutoff(cutoff) } else { InteractionRange::Supports };
        let mut neighborhood = Neighborhood::new(&exchange, reach, 0.1, Method::Clusters, symmetric)?;
        let bx = neighborhood.order(&cloud.bx, &mut columns)?;
        neighborhood.build(&bx, &mut columns)?;
        Ok(Self { bx, columns, neighborhood, cutoff })
    }

    /// Overwrites a field of the rows that are not owned, and of the owned ones too where there are values for them.
    fn set(&mut self, field: Field, others: f64, own: Option<&dyn Fn(u64, usize) -> f64>) -> Result<()> {
        self.columns.add(&[field])?;
        let (owned, id) = (self.columns.owned().len(), self.columns.id.download()?);
        let mut buffers = Vec::new();
        for (c, column) in self.columns.take(field).unwrap().iter().enumerate() {
            let mut values = column.download()?;
            if let Some(own) = own {
                (0..owned).for_each(|row| values[row] = own(id[row], c));
            }
            // padding stays what it is
            (owned..values.len()).filter(|&row| id[row] != u64::MAX).for_each(|row| values[row] = others);
            buffers.push(Buffer::from_host(self.columns.device(), &values)?);
        }
        self.columns.put(field, buffers);
        Ok(())
    }

    fn pass<'a>(&'a self, owned: &'a std::ops::Range<usize>) -> Pass<'a> {
        Pass {
            rows: self.columns.rows(),
            owned,
            position: self.columns.vector(Field::Position),
            id: (self.columns.rows() > owned.len()).then_some(&self.columns.id),
            radius: Some(self.neighborhood.radius()),
            cutoff: self.cutoff,
            bx: &self.bx,
            active: None,
        }
    }

    fn outputs(&self, fields: &[Field]) -> Result<Vec<Vec<f64>>> {
        let owned = self.columns.owned().len();
        let cut = |column: &Buffer<f64>| Ok(column.download()?[..owned].to_vec());
        self.columns.all(fields).into_iter().map(cut).collect()
    }

    /// Outputs of a law when all has come before, and when positions and inputs of rows of others come meanwhile.
    fn both<L: PairLaw>(
        &mut self,
        law: &L,
        precision: Precision,
        symmetric: bool,
    ) -> Result<[Vec<Vec<f64>>; 2]> {
        let value = |id: u64, c: usize| 1.0 + 0.4 * (0.37 * id as f64 + 2.1 * c as f64).sin();
        let given: Vec<Field> =
            L::INPUTS.iter().copied().filter(|field| *field != Field::SmoothingLength).collect();
        for &field in &given {
            self.set(field, f64::NAN, Some(&value))?;
        }
        self.columns.add(L::OUTPUTS)?;
        let sweep = Sweep::new(self.columns.device(), law, precision, symmetric)?;
        let mut memory = SweepMemory::new(self.columns.device())?;
        let owned = self.columns.owned();
        self.neighborhood.domain.refresh(&mut self.columns, &given)?;
        let (inputs, outputs) = (self.columns.all(L::INPUTS), self.columns.all(L::OUTPUTS));
        sweep.run(&mut memory, &self.pass(&owned), self.neighborhood.clusters(), &inputs, &outputs)?;
        let before = self.outputs(L::OUTPUTS)?;

        // memory that no sweep has packed into yet; what is read too early spoils what is found
        let mut memory = SweepMemory::new(self.columns.device())?;
        let shared = [&[Field::Position], &given[..]].concat();
        shared.iter().try_for_each(|&field| self.set(field, f64::NAN, None))?;
        let arriving = self.neighborhood.domain.begin_refresh(&self.columns, &shared)?;
        let (inputs, outputs) = (self.columns.all(L::INPUTS), self.columns.all(L::OUTPUTS));
        let (pass, records) = (self.pass(&owned), self.neighborhood.clusters());
        let arrive = || self.neighborhood.domain.finish_refresh(arriving);
        sweep.sums_arriving(&mut memory, &pass, records, &inputs, arrive)?;
        sweep.finish(&mut memory, &pass, &outputs)?;
        Ok([before, self.outputs(L::OUTPUTS)?])
    }

    /// How many records have no rows of others and how many have some, which all of them are.
    fn parts(&self) -> Result<[usize; 2]> {
        let Records { data, offsets, counts, super_clusters, interior_and_boundary: parts, .. } =
            self.neighborhood.clusters();
        let (rows, owned) = (self.columns.rows(), self.columns.owned().len());
        assert_eq!(parts.is_some(), rows > owned, "parts where there are rows of others");
        let Some([inner, outer]) = parts else { return Ok([super_clusters.len(), 0]) };
        let (data, offsets, counts) = (data.download()?, offsets.download()?, counts.download()?);
        let first = owned.next_multiple_of(SUPER_CLUSTER) / CLUSTER;
        let mut expected = [Vec::new(), Vec::new()];
        for record in 0..super_clusters.len() {
            let mut reaches = 0;
            let bytes = &data[offsets[record] as usize..];
            let note = |cluster: u32| reaches |= usize::from(cluster as usize >= first);
            compress::decode(bytes, counts[record] as usize, compress::BLOCK, note).unwrap();
            expected[reaches].push(record as u32);
        }
        assert_eq!([inner.download()?, outer.download()?], expected);
        Ok([inner.len(), outer.len()])
    }
}

/// Whether there were records of both parts on these ranks, some of which have both.
fn assert_some_of_all(parts: &[[usize; 2]]) {
    let total = |k: usize| parts.iter().map(|part| part[k]).sum::<usize>();
    assert!(total(0) > 0 && total(1) > 0, "nothing to sweep early, or nothing late: {parts:?}");
    assert!(parts.iter().any(|part| part[0] > 0 && part[1] > 0), "no rank has both: {parts:?}");
}

/// Whether a law over full lists gives the same bits.
fn assert_same_bits<L: PairLaw + Sync>(law: &L, precision: Precision, cutoff: f64, bx: SimulationBox) {
    let mut parts = Vec::new();
    for (ranks, count) in [(2, 3000), (3, 3000), (3, 2)] {
        let cloud = cloud(bx, count);
        parts.extend(run_local(ranks, |comm| {
            let mut rank = Rank::new(&comm, &cloud, cutoff, false).unwrap();
            let [before, arriving] = rank.both(law, precision, false).unwrap();
            for (before, arriving) in before.iter().zip(&arriving) {
                assert!(count < 10 || before.iter().any(|value| *value != 0.0), "nothing is compared");
                for (row, (before, arriving)) in before.iter().zip(arriving).enumerate() {
                    assert!(before.is_finite(), "row {row}: {before}");
                    assert_eq!(before.to_bits(), arriving.to_bits(), "row {row}: {before} {arriving}");
                }
            }
            rank.parts().unwrap()
        }));
    }
    assert_some_of_all(&parts);
}

const CUTOFF: f64 = 0.15;

fn repulsion() -> Forces<lennard_jones::Law<f64>> {
    Forces(lennard_jones::Law::truncated(1.0, 0.05))
}

#[test]
fn forces_of_full_lists_have_the_same_bits() {
    assert_same_bits(&repulsion(), Precision::Mixed, CUTOFF, boxes()[0]);
    assert_same_bits(&repulsion(), Precision::Double, CUTOFF, boxes()[1]);
}

#[test]
fn laws_of_the_gas_have_the_same_bits() {
    let kernel = Kernel::named("sinc-6").unwrap();
    assert_same_bits(&gradients::Law::new(kernel), Precision::Mixed, 0.0, boxes()[1]);
    let momentum = momentum_energy_volume::Law {
        kernel,
        beta: 2.0,
        conductivity: 0.3,
        switched_conductivity: 0.4,
        crossing_start: 0.1,
        crossing_slope: 10.0,
    };
    assert_same_bits(&momentum, Precision::Double, 0.0, boxes()[2]);
}

#[test]
fn forces_of_half_lists_are_the_same() {
    for (ranks, bx) in [(2, boxes()[1]), (3, boxes()[0])] {
        let cloud = cloud(bx, 3000);
        let parts = run_local(ranks, |comm| {
            let mut rank = Rank::new(&comm, &cloud, CUTOFF, true).unwrap();
            let [before, arriving] = rank.both(&repulsion(), Precision::Double, true).unwrap();
            let all = || before.iter().flatten().zip(arriving.iter().flatten());
            let largest = all().fold(0.0f64, |most, (before, _)| most.max(before.abs()));
            assert!(largest > 0.0, "nothing is compared");
            for (before, arriving) in all() {
                assert!((before - arriving).abs() <= 1e-12 * largest, "{before} {arriving}");
            }
            rank.parts().unwrap()
        });
        assert_some_of_all(&parts);
    }
}

/// Others wait for a rank that fails, so what arrives is taken all the same.
#[test]
fn what_arrives_is_taken_by_a_rank_that_fails() {
    let cloud = cloud(boxes()[1], 500);
    let errors = run_local(2, |comm| {
        let rank = Rank::new(&comm, &cloud, CUTOFF, false).unwrap();
        let device = rank.columns.device();
        let sweep = Sweep::new(device, &repulsion(), Precision::Mixed, false).unwrap();
        let mut memory = SweepMemory::new(device).unwrap();
        let owned = rank.columns.owned();
        // more rows than any device has room for
        let rows = if comm.rank() == 1 { 1 << 40 } else { rank.columns.rows() };
        let (pass, records) = (Pass { rows, ..rank.pass(&owned) }, rank.neighborhood.clusters());
        let swept = sweep.sums_arriving(&mut memory, &pass, records, &[], || {
            comm.barrier();
            Ok(())
        });
        swept.err()
    });
    assert!(matches!(errors[..], [None, Some(Error::Device { .. })]), "{errors:?}");
}

#[test]
fn one_rank_sweeps_all_at_once() {
    let cloud = cloud(boxes()[1], 700);
    let mut rank = Rank::new(&Communicator::solo(), &cloud, CUTOFF, false).unwrap();
    assert!(rank.neighborhood.clusters().interior_and_boundary.is_none());
    assert!(rank.neighborhood.domain.begin_refresh(&rank.columns, &[Field::Position]).unwrap().is_nothing());
    let [before, arriving] = rank.both(&repulsion(), Precision::Double, false).unwrap();
    assert!(before[0].len() == 700 && before == arriving);
}
