//! Growth rates of perturbations of a gas at rest: the linear analysis against known figures, and the table of warnings
//! against the analysis. (Not unit tests: these would compile every sweep of a step again.)

use hilbrium::deck;
use hilbrium::plan::LatticeKind;
use hilbrium::sph::instability;
use hilbrium::stability::{NEUTRAL, Stability, of_lattice};

fn plan(sph: &str) -> hilbrium::plan::Plan {
    let text = format!(
        "[run]\nend_time = 1.0\n[start.lattice]\nkind = \"fcc\"\ncells = 10\nspacing = 0.1\n\
         [space]\nboundary = \"periodic\"\n[sph]\n{sph}"
    );
    deck::examine("test", &text, &[]).map_err(|report| report.to_string()).unwrap().plan
}

fn of(sph: &str, kind: LatticeKind) -> Stability {
    of_lattice(&plan(sph), kind).unwrap()
}

/// The figures of an analysis by other means (numpy, from the sums): 0.10 and 0.04 c over the spacing.
#[test]
fn sinc_kernels_with_few_neighbors_grow() {
    let integral = of("kernel = \"sinc-6\"\nneighbors = 100.0", LatticeKind::FaceCentered);
    assert!((integral.growth - 0.099).abs() < 0.01, "{integral:?}");
    let kernel =
        of("kernel = \"sinc-6\"\nneighbors = 100.0\ngradients = \"kernel\"", LatticeKind::FaceCentered);
    assert!((kernel.growth - 0.038).abs() < 0.01, "{kernel:?}");
}

#[test]
fn wide_wendland_kernels_hardly_grow() {
    let wide = "kernel = \"wendland-c6\"\nneighbors = 200.0";
    let found = of(wide, LatticeKind::BodyCentered);
    assert!(found.growth < NEUTRAL && found.growing == 0.0, "{found:?}");
    for kind in [LatticeKind::FaceCentered, LatticeKind::Hexagonal] {
        let found = of(wide, kind);
        assert!(found.growth < 0.02 && found.growing < 0.03, "{found:?}");
    }
}

#[test]
fn the_table_of_warnings_is_what_the_analysis_finds() {
    let close = [LatticeKind::BodyCentered, LatticeKind::FaceCentered, LatticeKind::Hexagonal];
    let worst = close.map(|kind| of("", kind).growth).into_iter().fold(0.0, f64::max);
    let tabulated = instability::growth(plan("").sph.as_ref().unwrap()).unwrap();
    assert!((worst - tabulated).abs() < 1e-3, "{worst} {tabulated}");
}
