//! The Lennard-Jones interaction of several species, given pair by pair.

use super::lennard_jones_switched as switched;
use crate::pair::language::*;

pub use lennard_jones_table::*;

/// Lennard-Jones with a depth and a distance of each pair of species; truncated, shifted to zero energy at the cutoff for every
/// pair, or switched as in [`lennard_jones_switched`](super::lennard_jones_switched). One law serves all three: beside the
/// lookups, what the switch costs is little.
#[pair(cutoff = common)]
pub mod lennard_jones_table {
    /// 4 epsilon and sigma^6 of each pair of species, r_1, and per power A, B, and the shift C of the energy: without a
    /// switch r_1 is the cutoff and A and B are 0, without a shift C is.
    struct Law {
        depth: Table,
        sigma6: Table,
        start: Real,
        a12: Real,
        b12: Real,
        c12: Real,
        a6: Real,
        b6: Real,
        c6: Real,
    }
    /// Index of the species.
    struct Particle {
        species: Real,
    }
    struct Sums {
        #[odd]
        force: Vec3,
        #[even]
        energy: Real,
        #[even]
        virial: Real,
    }
    struct Output {
        force: Vec3,
        pair_energy: Real,
        virial: Real,
    }

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let depth = table_value(law.depth, i.species, j.species);
        let sigma6 = table_value(law.sigma6, i.species, j.species);
        let distance = r2.sqrt();
        let inverse = r2.reciprocal();
        let r6 = inverse * inverse * inverse;
        let x = (distance - law.start).max(0.0);
        let x2 = x * x;
        let x3 = x2 * x;
        let force12 = 12.0 * r6 * r6 + (law.a12 * x2 + law.b12 * x3) * distance;
        let force6 = 6.0 * r6 + (law.a6 * x2 + law.b6 * x3) * distance;
        let energy12 = r6 * r6 - (law.a12 * (1.0 / 3.0) + law.b12 * 0.25 * x) * x3 - law.c12;
        let energy6 = r6 - (law.a6 * (1.0 / 3.0) + law.b6 * 0.25 * x) * x3 - law.c6;
        let attraction = depth * sigma6;
        let virial = attraction * (sigma6 * force12 - force6);
        Sums { force: r * (virial * inverse), energy: attraction * (sigma6 * energy12 - energy6), virial }
    }

    /// Half of each pair's energy and virial.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        Output { force: sums.force, pair_energy: 0.5 * sums.energy, virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// Truncated at the cutoff, with jumps of the energy; of tables of 4 epsilon and sigma^6.
    pub fn truncated(depth: Table<f64>, sigma6: Table<f64>, cutoff: f64) -> Self {
        Law { depth, sigma6, start: cutoff, a12: 0.0, b12: 0.0, c12: 0.0, a6: 0.0, b6: 0.0, c6: 0.0 }
    }

    /// Truncated and shifted to zero energy at the cutoff.
    pub fn shifted(depth: Table<f64>, sigma6: Table<f64>, cutoff: f64) -> Self {
        Law { c12: cutoff.powi(-12), c6: cutoff.powi(-6), ..Self::truncated(depth, sigma6, cutoff) }
    }

    /// Switched from `start` to `cutoff`.
    pub fn switched(depth: Table<f64>, sigma6: Table<f64>, start: f64, cutoff: f64) -> Self {
        let switched::Law { a12, b12, c12, a6, b6, c6, .. } = switched::Law::new(1.0, 1.0, start, cutoff);
        Law { depth, sigma6, start, a12, b12, c12, a6, b6, c6 }
    }
}
