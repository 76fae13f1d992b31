//! The Coulomb interaction within a cutoff, plain or with a reaction field.

use crate::pair::language::*;

pub use coulomb::*;

/// V(r) = f q_i q_j (1 / r + k r^2 - c) within the cutoff r_c: plain with k = 0; with a medium of relative permittivity e
/// beyond it (Tironi et al. 1995, J. Chem. Phys. 102, 5451) k = (e - 1) / ((2 e + 1) r_c^3) and c = 1 / r_c + k r_c^2.
///
/// A particle by itself has the energy -f q^2 c / 2, the shift of the pair that it would make with itself (as GROMACS counts
/// it): then a neutral sphere of the cutoff's radius has no constant left, and energies converge to those of Madelung.
#[pair(cutoff = common)]
pub mod coulomb {
    /// The constant f = 1 / (4 pi epsilon_0) in the units of the run, k and c.
    struct Law {
        constant: Real,
        field: Real,
        shift: Real,
    }
    struct Particle {
        charge: Real,
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
        let charges = law.constant * (i.charge * j.charge);
        let inverse = r2.reciprocal_root();
        let field = law.field * r2;
        let virial = charges * (inverse - 2.0 * field);
        Sums {
            force: r * (virial * (inverse * inverse)),
            energy: charges * (inverse + field - law.shift),
            virial,
        }
    }

    /// Half of each pair's energy and virial, and the particle's own energy.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let own = law.constant * (i.charge * i.charge) * law.shift;
        Output { force: sums.force, pair_energy: 0.5 * (sums.energy - own), virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// Cut off, with a jump of the energy.
    pub fn plain(constant: f64) -> Self {
        Law { constant, field: 0.0, shift: 0.0 }
    }

    /// Cut off and shifted to zero energy at the cutoff: what a reaction field of permittivity 1 is.
    pub fn shifted(constant: f64, cutoff: f64) -> Self {
        Law { constant, field: 0.0, shift: 1.0 / cutoff }
    }

    /// With a reaction field of this relative permittivity, which may be infinite, beyond the cutoff.
    pub fn reaction_field(constant: f64, permittivity: f64, cutoff: f64) -> Self {
        let ratio =
            if permittivity.is_finite() { (permittivity - 1.0) / (2.0 * permittivity + 1.0) } else { 0.5 };
        let field = ratio / cutoff.powi(3);
        Law { constant, field, shift: 1.0 / cutoff + field * cutoff * cutoff }
    }
}
