//! What pairs beyond a plain cutoff would add to energy and pressure, were the density there even.

use crate::laws::lennard_jones;
use crate::plan::LennardJonesPlan;

/// The correction of a composition, which is that of a volume times it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// Energy times volume.
    energy: f64,
    /// Virial times volume.
    virial: f64,
    /// The cutoff beyond which it counts.
    pub cutoff: f64,
}

impl Tail {
    /// The correction for so many particles of each species: the sum over pairs of species of their own (Allen & Tildesley
    /// 2017, section 2.8), in which a particle is counted as its own neighbor, as is usual.
    pub fn new(plan: &LennardJonesPlan, counts: &[u64]) -> Self {
        let (mut energy, mut virial) = (0.0, 0.0);
        for (a, &count_a) in counts.iter().enumerate() {
            for (b, &count_b) in counts.iter().enumerate() {
                let [epsilon, sigma] = plan.parameters.of(a, b);
                let law = lennard_jones::Law::truncated(epsilon, sigma);
                let [u, w] = law.tail(count_a as f64, count_b as f64, plan.cutoff);
                energy += u;
                virial += w;
            }
        }
        Tail { energy, virial, cutoff: plan.cutoff }
    }

    /// The energy in a volume.
    pub fn energy(&self, volume: f64) -> f64 {
        self.energy / volume
    }

    /// The virial in a volume, a third of which is pressure times volume.
    pub fn virial(&self, volume: f64) -> f64 {
        self.virial / volume
    }
}
