//! The point explosion of Sedov (1946, Prikl. Mat. Mekh. 10, 241) and Taylor (1950, Proc. R. Soc. A 201,
//! 159): cold gas of uniform density at rest in a cube about the origin, with energy E around its center.
//!
//! The energy is distributed as exp(-(r / width)^2) with a fixed width, so that runs of different resolution
//! solve the same problem (as in SPH-EXA). It is normalized by the sum over particles: the particles carry E
//! in any arrangement, and a narrow width gives all energy to the innermost particle.

use std::ops::Range;

use super::uniform::{self, Corners, Filling};
use super::{InternalEnergy, Layout};
use crate::plan::SedovStart;

/// Lays out the particles of a range of ids.
pub fn layout(start: &SedovStart, corners: Corners, share: Range<u64>) -> Layout {
    let gas = start.gas();
    let filling = Filling::new(&gas, corners);
    let squared = |id: u64| (filling.position(id) - filling.middle()).norm_squared();
    let total = uniform::count(&gas);
    let innermost = (0..total).map(squared).fold(f64::INFINITY, f64::min);
    // Relative to the innermost particle, so that at least one weight is 1.
    let weight = |id: u64| ((innermost - squared(id)) / start.width / start.width).exp();
    let sum: f64 = (0..total).map(weight).sum();
    let mut layout = uniform::filled(&gas, &filling, share.clone());
    let specific = start.energy / (layout.mass * sum);
    let energies = share.map(|id| start.internal_energy + specific * weight(id)).collect();
    layout.internal_energy = InternalEnergy::PerParticle(energies);
    layout
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Arrangement;

    const CUBE: Corners = Some([[-1.0; 3], [1.0; 3]]);

    fn start(particles: u64, arrangement: Arrangement, width: f64) -> SedovStart {
        SedovStart {
            particles,
            arrangement,
            seed: 1,
            edge: 2.0,
            density: 0.5,
            energy: 3.0,
            width,
            internal_energy: 1e-3,
        }
    }

    fn energies(layout: &Layout) -> &[f64] {
        match &layout.internal_energy {
            InternalEnergy::PerParticle(energies) => energies,
            InternalEnergy::Uniform(_) => panic!("an explosion is not even"),
        }
    }

    #[test]
    fn holds_its_mass_and_its_energy_whatever_the_width() {
        for &arrangement in Arrangement::ALL {
            for width in [1e-200, 1e-3, 0.2, 1e3] {
                let start = start(1000, arrangement, width);
                let total = uniform::count(&start.gas());
                let layout = layout(&start, CUBE, 0..total);
                assert!((layout.mass * total as f64 / 4.0 - 1.0).abs() < 1e-12, "{arrangement:?}");
                let energy: f64 = energies(&layout).iter().map(|u| layout.mass * u).sum();
                assert!((energy / 3.004 - 1.0).abs() < 1e-12, "{arrangement:?} {width}: {energy}");
                let coldest = energies(&layout).iter().copied().fold(f64::INFINITY, f64::min);
                assert!(coldest >= 1e-3, "{arrangement:?} {width}: {coldest}");
            }
        }
    }

    #[test]
    fn is_a_gaussian_about_the_middle() {
        let start = start(8000, Arrangement::SimpleCubic, 0.25);
        let layout = layout(&start, CUBE, 0..8000);
        // At density 1/2, half the specific energy is the energy per volume.
        let most = 3.0 / (0.5 * (std::f64::consts::PI * 0.25f64.powi(2)).powf(1.5));
        for (position, energy) in layout.positions.iter().zip(energies(&layout)) {
            let exact = 1e-3 + most * (-position.norm_squared() / 0.25f64.powi(2)).exp();
            assert!((energy / exact - 1.0).abs() < 1e-6, "{position:?}: {energy}, not {exact}");
        }
    }
}
