//! The pair law of molecules on a device, and the method by which it finds its pairs.

use super::Verlet;
use super::fused::FusedStages;
use crate::Result;
use crate::device::Device;
use crate::device::pair_sums::{LawSums, SumMemory};
use crate::molecules::{LawVisitor, Molecules};
use crate::neighborhood::{Method, NeighborSettings};
use crate::pair::{Energies, Forces, PairLaw, Precision};
use crate::particles::Field;

/// Kernels of the pair law.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) cutoff: f64,
    pub(super) forces: LawSums,
    /// In double precision: rare, and printed with many digits.
    pub(super) energies: LawSums,
    pub(super) inputs: &'static [Field],
    /// For lists.
    pub(super) fused: Option<FusedStages>,
}

impl Pairs {
    /// Compiles the law of `molecules`.
    pub(super) fn new(
        device: &Device,
        molecules: Option<&Molecules>,
        precision: Precision,
        method: Method,
        symmetric: bool,
    ) -> Result<Option<Self>> {
        let Some(molecules) = molecules else { return Ok(None) };
        let cutoff = molecules.cutoff();
        let mut compile = Compile { device, precision, method, symmetric, cutoff, pairs: None };
        molecules.visit(&mut compile);
        compile.pairs.transpose()
    }
}

/// Compiles the law that it visits.
struct Compile<'a> {
    device: &'a Device,
    precision: Precision,
    method: Method,
    symmetric: bool,
    cutoff: f64,
    pairs: Option<Result<Pairs>>,
}

impl LawVisitor for Compile<'_> {
    fn visit<L: PairLaw>(&mut self, law: &L) {
        let Self { device, precision, method, symmetric, cutoff, .. } = *self;
        let compiled = || {
            let forces = LawSums::new(device, &Forces(*law), precision, method, symmetric)?;
            let fused = method.is_list().then(|| FusedStages::new(device, &Forces(*law), forces.shape()));
            Ok(Pairs {
                cutoff,
                forces,
                energies: LawSums::new(device, &Energies(*law), Precision::Double, method, symmetric)?,
                inputs: L::INPUTS,
                fused: fused.transpose()?,
            })
        };
        self.pairs = Some(compiled());
    }
}

impl Verlet {
    /// Changes method, half or full lists, and the outer skin; the next evaluation of forces builds what they
    /// need. Collective.
    ///
    /// # Errors
    /// Those of the device, on all ranks; kernels that do not compile.
    pub fn set_neighbors(&mut self, settings: &NeighborSettings) -> Result<()> {
        let set = self.set_own_neighbors(settings);
        self.exchange.comm().agree(set)
    }

    fn set_own_neighbors(&mut self, settings: &NeighborSettings) -> Result<()> {
        let device = self.exchange.device();
        let (before, NeighborSettings { method, symmetric, .. }) = (self.neighbors(), *settings);
        if (before.method, before.symmetric) != (method, symmetric) {
            self.pairs = Pairs::new(device, self.molecules.as_ref(), self.precision, method, symmetric)?;
        }
        if before.method != method {
            self.memory = SumMemory::new(device)?;
        }
        self.neighborhood.set(settings)
    }

    /// How pairs are found.
    pub fn neighbors(&self) -> NeighborSettings {
        self.neighborhood.settings()
    }

    /// Whether lists of particles did not suffice at the last build, on any rank.
    pub fn fell_back(&self) -> bool {
        self.neighborhood.fell_back()
    }

    /// Allocated bytes of lists or grids in use, beside particles, packed rows and sums.
    pub fn neighbor_bytes(&self) -> usize {
        self.neighborhood.list_bytes() + self.memory.grid_bytes()
    }
}
