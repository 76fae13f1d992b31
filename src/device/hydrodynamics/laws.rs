//! The laws of a gas, compiled for a method of finding pairs.

use crate::Result;
use crate::device::Device;
use crate::device::pair_sums::LawSums;
use crate::neighborhood::Method;
use crate::pair::{PairLaw, Precision};
use crate::particles::Field;
use crate::plan::SphPlan;
use crate::sph::passes::{GasPass, LawVisitor};

/// Kernels of a law, and the fields that it reads and writes.
#[derive(Debug)]
pub(super) struct Law {
    pub(super) sums: LawSums,
    pub(super) inputs: &'static [Field],
    pub(super) outputs: &'static [Field],
}

/// Compiles the law that it visits.
#[derive(Clone, Copy)]
pub(super) struct Compile<'a> {
    pub(super) device: &'a Device,
    pub(super) precision: Precision,
    pub(super) method: Method,
}

impl LawVisitor for Compile<'_> {
    type Output = Result<Law>;

    fn visit<L: PairLaw>(self, law: &L) -> Result<Law> {
        // full lists only, for reproducible sums: each pair is evaluated from both sides
        let sums = LawSums::new(self.device, law, self.precision, self.method, false)?;
        Ok(Law { sums, inputs: L::INPUTS, outputs: L::OUTPUTS })
    }
}

/// Compiles the laws of a plan but those that some settings do not need, which are compiled on demand.
pub(super) fn compile(plan: &SphPlan, compiler: Compile) -> Result<[Option<Law>; GasPass::ALL.len()]> {
    let mut laws = GasPass::ALL.map(|_| None);
    let seldom = [GasPass::Density, GasPass::VolumeEstimate];
    for pass in GasPass::ALL.into_iter().filter(|pass| !seldom.contains(pass)) {
        laws[pass as usize] = Some(pass.visit(plan, compiler)?);
    }
    Ok(laws)
}
