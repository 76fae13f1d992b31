//! Steps of few kernels: the first half of a step packs the rows, and forces from sums complete the second
//! half.

use super::{Pairs, Verlet};
use crate::Result;
use crate::device::arguments::Arguments;
use crate::device::arguments::drift_and_pack::DriftAndPackArguments;
use crate::device::arguments::finish_and_accelerate::FinishAndAccelerateArguments;
use crate::device::launch::THREADS;
use crate::device::motion::Moving;
use crate::device::pack::Shape;
use crate::device::sweep::Pass;
use crate::device::{Device, Kernel};
use crate::motion::verlet::MAX_DISPLACEMENT;
use crate::neighbors::SUPER_CLUSTER;
use crate::pair::{Forces, PairLaw};
use crate::particles::Field;

/// The kernels of a law's forces that contain the motion.
#[derive(Debug)]
pub(super) struct FusedStages {
    drift_and_pack: Kernel<DriftAndPackArguments>,
    finish_and_accelerate: Kernel<FinishAndAccelerateArguments>,
}

impl FusedStages {
    /// Compiles the kernels, unless they are cached.
    pub(super) fn new<L: PairLaw>(device: &Device, law: &Forces<L>, shape: &Shape) -> Result<Self> {
        let finish = shape.unit(law, FinishAndAccelerateArguments::UNIT, "double");
        Ok(Self {
            drift_and_pack: device.kernel(&shape.unit(law, DriftAndPackArguments::UNIT, shape.number()))?,
            finish_and_accelerate: device.kernel(&finish.with("HILBRIUM_SUM_REAL", shape.number()))?,
        })
    }
}

impl Verlet {
    /// Whether steps of a batch can be performed by [`Self::enqueue_fused`]: forces of pairs over lists
    /// alone, without halos.
    pub(super) fn fuses(&self) -> bool {
        let fused = self.pairs.as_ref().is_some_and(|pairs| pairs.fused.is_some());
        fused && self.ewald.is_none() && self.columns.rows() == self.columns.owned().len()
    }

    /// Enqueues a step of length `dt` of a batch without thermostat, with the bits of single kernels.
    pub(super) fn enqueue_fused(&mut self, dt: f64) -> Result<()> {
        let Self { pairs, columns, motion, memory, neighborhood, bx, .. } = self;
        let Some(Pairs { forces, fused: Some(fused), inputs, cutoff, .. }) = pairs else { return Ok(()) };
        let (device, moving) = (columns.device(), Moving::of(columns));
        let rows = columns.owned();
        let pass = Pass {
            rows: rows.len(),
            owned: &rows,
            position: moving.position,
            id: None,
            radius: None,
            cutoff: *cutoff,
            bx,
            active: None,
        };
        let farthest = MAX_DISPLACEMENT * bx.lengths().max();
        let arguments = DriftAndPackArguments {
            drift: motion.drift_arguments(&moving, rows.clone(), dt, farthest)?,
            pack: forces.pack_arguments(memory, &pass, &columns.all(inputs))?,
        };
        let super_clusters = rows.len().div_ceil(SUPER_CLUSTER);
        let blocks = super_clusters.div_ceil(THREADS as usize / 32);
        device.launch(&fused.drift_and_pack, blocks, THREADS, &arguments)?;
        forces.sums_of_packed(memory, &pass, neighborhood.neighbors())?;
        let force = columns.vector(Field::Force);
        let mass = columns.scalar(Field::Mass);
        let arguments = FinishAndAccelerateArguments {
            finish: forces.finish_arguments(memory, &pass, &force),
            accelerate: motion.accelerate_arguments(force, mass, &moving, rows.clone(), dt, f64::INFINITY),
        };
        let blocks = rows.len().div_ceil(THREADS as usize);
        device.launch(&fused.finish_and_accelerate, blocks, THREADS, &arguments)
    }
}
