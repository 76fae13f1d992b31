//! Settings with which a gas at rest is unstable, from the linear analysis of lattices in
//! [`crate::stability`].

use crate::plan::{Gradients, Kernel, SphPlan};

/// Numbers of neighbors of the columns of [`GROWTH`].
const NEIGHBORS: [f64; 9] = [60.0, 80.0, 100.0, 130.0, 160.0, 190.0, 220.0, 260.0, 320.0];

/// Largest growth rate on bcc, fcc and hcp lattices, in units of the sound speed over the mean spacing, for
/// volume elements with the integral approach and without viscosity. Computed by `hilbrium stability` for
/// each kernel and number of neighbors.
const GROWTH: [(&str, [f64; 9]); 14] = [
    ("cubic-spline", [0.015, 0.163, 0.234, 0.197, 0.155, 0.135, 0.125, 0.110, 0.103]),
    ("wendland-c2", [0.246, 0.109, 0.064, 0.106, 0.081, 0.050, 0.040, 0.044, 0.040]),
    ("wendland-c4", [0.155, 0.140, 0.049, 0.042, 0.040, 0.034, 0.029, 0.018, 0.015]),
    ("wendland-c6", [0.172, 0.110, 0.099, 0.046, 0.026, 0.019, 0.014, 0.013, 0.007]),
    ("sinc-3", [0.311, 0.219, 0.214, 0.236, 0.204, 0.196, 0.184, 0.155, 0.125]),
    ("sinc-4", [0.231, 0.167, 0.127, 0.114, 0.115, 0.116, 0.110, 0.102, 0.099]),
    ("sinc-5", [0.139, 0.137, 0.121, 0.071, 0.065, 0.058, 0.055, 0.054, 0.053]),
    ("sinc-6", [0.166, 0.114, 0.108, 0.084, 0.058, 0.034, 0.030, 0.027, 0.024]),
    ("sinc-7", [0.157, 0.139, 0.094, 0.086, 0.065, 0.048, 0.035, 0.020, 0.013]),
    ("sinc-8", [0.143, 0.141, 0.122, 0.081, 0.072, 0.058, 0.044, 0.030, 0.017]),
    ("sinc-9", [0.044, 0.148, 0.129, 0.100, 0.071, 0.061, 0.054, 0.038, 0.025]),
    ("sinc-10", [0.000, 0.129, 0.142, 0.113, 0.087, 0.063, 0.057, 0.048, 0.031]),
    ("sinc-11", [0.000, 0.045, 0.140, 0.126, 0.102, 0.079, 0.057, 0.051, 0.040]),
    ("sinc-12", [0.000, 0.000, 0.110, 0.136, 0.114, 0.093, 0.073, 0.053, 0.042]),
];

/// Growth rates up to this are damped by the minimum viscosity of the default switch, alpha_min = 0.05.
/// Lattices with such settings stayed below a speed of 2e-3 c for 20 sound crossings; the others reached 4e-3
/// to 4e-2 c (docs/src/gas-settings.md).
pub const DAMPED: f64 = 0.03;

/// Returns the largest growth rate of a perturbation of a gas at rest, in units of the sound speed over the
/// mean spacing. Interpolates linearly between the analyzed numbers of neighbors. `None` for kernel
/// gradients.
pub fn growth(plan: &SphPlan) -> Option<f64> {
    if plan.gradients == Gradients::Kernel {
        return None;
    }
    let (_, rates) = GROWTH.iter().find(|(name, _)| Kernel::named(name) == Some(plan.kernel))?;
    let neighbors = plan.neighbors.clamp(NEIGHBORS[0], NEIGHBORS[8]);
    let above = NEIGHBORS.iter().position(|&count| count >= neighbors)?.max(1);
    let part = (neighbors - NEIGHBORS[above - 1]) / (NEIGHBORS[above] - NEIGHBORS[above - 1]);
    Some(rates[above - 1] + part * (rates[above] - rates[above - 1]))
}

/// Returns a warning if a gas at rest is unstable with these settings.
pub fn warning(plan: &SphPlan) -> Option<String> {
    let growth = growth(plan).filter(|growth| *growth > DAMPED)?;
    Some(format!(
        "a gas at rest is unstable with kernel = \"{}\" and neighbors = {}: modes of lattices grow at \
         {growth:.2} c over the mean spacing, which turns heat into motion; the defaults of [sph] are stable",
        plan.kernel.name(),
        plan.neighbors
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::examine;

    fn plan(keys: &str) -> crate::plan::Plan {
        let deck = format!(
            "[run]\nend_time = 1.0\n[start.random]\nparticles = 5000\n[space]\nboundary = \"periodic\"\n[sph]\n{keys}"
        );
        examine("deck", &deck, &[]).unwrap().plan
    }

    fn rate(keys: &str) -> f64 {
        growth(plan(keys).sph.as_ref().unwrap()).unwrap()
    }

    #[test]
    fn the_defaults_are_stable_and_sinc_with_few_neighbors_is_not() {
        assert_eq!(warning(plan("").sph.as_ref().unwrap()), None);
        let told = warning(plan("kernel = \"sinc-6\"\nneighbors = 100.0").sph.as_ref().unwrap()).unwrap();
        assert!(
            told.contains("kernel = \"sinc-6\" and neighbors = 100") && told.contains("0.11 c"),
            "{told}"
        );
    }

    #[test]
    fn rates_are_linear_between_those_analyzed_and_constant_beyond() {
        let at = |neighbors: &str| rate(&format!("kernel = \"wendland-c6\"\nneighbors = {neighbors}"));
        assert!((at("175.0") - 0.5 * (at("160.0") + at("190.0"))).abs() < 1e-12);
        assert_eq!(at("320.0"), at("700.0"));
        assert_eq!(growth(plan("gradients = \"kernel\"").sph.as_ref().unwrap()), None);
    }
}
