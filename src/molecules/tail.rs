//! Tail correction: energy and pressure of pairs beyond a plain cutoff at uniform density.

use crate::laws::Interaction;

/// Tail correction of a composition, stored times the volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// Energy times volume.
    energy: f64,
    /// Virial times volume.
    virial: f64,
    /// The cutoff.
    pub cutoff: f64,
}

impl Tail {
    /// The correction for these particle counts per species.
    pub fn new(interaction: &Interaction, counts: &[u64]) -> Self {
        let [energy, virial] = interaction.tail(counts);
        Tail { energy, virial, cutoff: interaction.cutoff() }
    }

    /// Returns the energy for a box volume.
    pub fn energy(&self, volume: f64) -> f64 {
        self.energy / volume
    }

    /// Returns the virial for a box volume. The pressure is a third of it over the volume.
    pub fn virial(&self, volume: f64) -> f64 {
        self.virial / volume
    }
}
