//! What pairs beyond a plain cutoff would add to energy and pressure, were the density there even.

use crate::laws::Interaction;

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
    /// The correction for so many particles of each species.
    pub fn new(interaction: &Interaction, counts: &[u64]) -> Self {
        let [energy, virial] = interaction.tail(counts);
        Tail { energy, virial, cutoff: interaction.cutoff() }
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
