//! `hilbrium stability`: linear stability of lattices in a deck's gas.

use super::Ending;
use crate::plan::LatticeKind;
use crate::report::{line, table};
use crate::sph::instability::DAMPED;
use crate::stability::{NEUTRAL, of_lattice};
use crate::{Result, deck};
use std::path::Path;

pub(super) fn stability(
    deck: &Path,
    overrides: &[String],
    lattices: &[LatticeKind],
    json: bool,
) -> Result<Ending> {
    let plan = deck::read_checked(deck, overrides)?.plan;
    let mut rows = Vec::new();
    for &kind in lattices {
        let found = of_lattice(&plan, kind)?;
        if json {
            let row = serde_json::json!({
                "lattice": kind.name(), "growth": found.growth, "growing": found.growing
            });
            line(&row.to_string());
        }
        let verdict = match found.growth {
            growth if growth > DAMPED => "grows",
            growth if growth > NEUTRAL => "grows without viscosity",
            _ => "stable",
        };
        rows.push(vec![
            kind.name().to_owned(),
            format!("{:.4}", found.growth),
            format!("{:.1} %", 100.0 * found.growing),
            found.wave_vectors.to_string(),
            verdict.to_owned(),
        ]);
    }
    if !json {
        line(table(&["lattice", "growth", "modes", "wave vectors", ""], &rows).trim_end());
        line(
            "\ngrowth: largest rate without viscosity, in units of the speed of sound over the mean spacing; the \
             default viscosity damps \
             rates of 0.03. modes: the share that grows",
        );
    }
    Ok(Ending::Done)
}
