//! The lists that `bench search` compares with: of clusters, each pair once, and of particles.

use super::{Bench, Case, Sample, Strategy, Times};
use crate::Result;
use crate::device::Buffer;
use crate::device::columns::Columns;
use crate::device::hierarchy::{Hierarchy, Radii};
use crate::device::list::{ListBuilder, Records, Search};
use crate::device::order::Order;
use crate::device::particle_list::{ParticleListBuilder, ParticleRecords};
use crate::device::particle_sweep::ParticleSweep;
use crate::device::sweep::{Part, Sweep, SweepMemory};
use crate::neighbors::cluster::power_of_two_below;
use crate::pair::Precision;
use crate::particles::Field;
use crate::space::SimulationBox;

/// Measures both lists.
pub(super) fn measure(bench: &mut Bench, case: &Case, sample: &mut Sample) -> Result<()> {
    let bx = sample.bx;
    let mut state = (sample, Order::new(bench.device)?);
    let sort = bench.seconds(
        &mut state,
        |(sample, _)| sample.disorder(),
        |(sample, order)| order.sync(&bx, &mut sample.sorted).map(drop),
    )?;
    let (sample, order) = state;
    // frees its memory
    drop(order);
    for symmetric in [true, false] {
        list(bench, case, &sample.sorted, &bx, sort, symmetric)?;
    }
    Ok(())
}

/// Measures the list of clusters if `symmetric`, else that of particles.
fn list(
    bench: &mut Bench,
    case: &Case,
    columns: &Columns,
    bx: &SimulationBox,
    sort: f64,
    symmetric: bool,
) -> Result<()> {
    let device = bench.device;
    let (rows, position) = (case.particles, columns.vector(Field::Position));
    let unit = power_of_two_below(case.radius);
    let mut hierarchy = Hierarchy::new(device)?;
    let build =
        |hierarchy: &mut Hierarchy| hierarchy.build(position, Radii::All(case.radius), None, rows, unit);
    let mut seconds = bench.seconds(&mut hierarchy, |_| Ok(()), build)?;
    let radius = Buffer::from_host(device, &vec![case.radius; rows])?;
    let search = Search {
        rows,
        owned: 0..rows,
        symmetric,
        position,
        radius: &radius,
        id: &columns.id,
        center: hierarchy.center(),
        extent: hierarchy.extent(),
        unit,
        bx,
    };
    let mut state = (ListBuilder::new(device)?, Records::new(device)?);
    seconds += bench.seconds(&mut state, |_| Ok(()), |(builder, records)| builder.build(&search, records))?;
    let (_, clusters) = state;
    let owned = columns.owned();
    let (pass, force) = (case.pass(columns, &owned, bx), columns.vector(Field::Force));
    let mut memory = SweepMemory::new(device)?;
    let law = case.law();
    if symmetric {
        let sweep = Sweep::new(device, &law, Precision::Mixed, true)?;
        let task = |memory: &mut SweepMemory| {
            sweep.pack(memory, &pass, &[], Part::All)?;
            sweep.sweep(memory, &pass, &clusters, Part::All)?;
            sweep.finish(memory, &pass, &force)
        };
        let search = bench.seconds(&mut memory, |_| Ok(()), task)?;
        let bytes = clusters.length as usize + clusters.offsets.bytes() + clusters.counts.bytes();
        let strategy = Strategy { name: "list of clusters", cells: None, method: None, bytes };
        bench.push(case, &strategy, Some(Times { sort, list: Some(seconds), search }));
        return Ok(());
    }
    let mut state = (ParticleListBuilder::new(device)?, ParticleRecords::new(device)?, true);
    seconds += bench.seconds(
        &mut state,
        |_| Ok(()),
        |(builder, records, fits)| builder.build(&search, &clusters, records).map(|fit| *fits = fit),
    )?;
    let (_, records, fits) = state;
    let strategy = Strategy { name: "list of particles", cells: None, method: None, bytes: records.bytes() };
    let times = match fits {
        true => {
            let sweep = ParticleSweep::new(device, law, Precision::Mixed)?;
            let task = |memory: &mut SweepMemory| sweep.run(memory, &pass, &records, &[], &force);
            Some(Times { sort, list: Some(seconds), search: bench.seconds(&mut memory, |_| Ok(()), task)? })
        }
        // the encoding does not suffice
        false => None,
    };
    bench.push(case, &strategy, times);
    Ok(())
}
