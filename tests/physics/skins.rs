//! How a run chooses method and skins of its pairs.

use crate::common::{plan, started};
use hilbrium::comm::Communicator;
use hilbrium::neighborhood::{Costs, Method};
use hilbrium::particles::Field;
use hilbrium::run::tuning::{Fate, Tuned, follow, tune};
use hilbrium::step::Simulation;

const LIQUID: &str = r#"
    [run]
    steps = 1
    [start.lattice]
    kind = "fcc"
    cells = [8, 8, 8]
    spacing = 1.6795962
    density = 0.8442
    temperature = 1.44
    [space]
    boundary = "periodic"
    [interaction.lennard-jones]
    [time_step]
    fixed = 0.004
"#;

#[test]
fn slower_particles_get_other_skins_once() {
    let mut liquid = started(&plan(LIQUID), &Communicator::solo());
    assert_eq!(follow(&mut liquid).expect("lists"), [""; 0], "nothing was measured");
    assert!(tune(&mut liquid).expect("lists").is_some());
    let costs = liquid.list_costs.expect("skins were chosen by costs");
    assert_eq!(follow(&mut liquid).expect("lists"), [""; 0], "particles are as fast as they were");

    // as if skins had been chosen for particles three times as fast, and lists cost this much
    let costs = Costs { build: 10.0, prune: 1.0, sweep: 4.0, stride: 3.0 * costs.stride, ..costs };
    liquid.neighborhood.set_skins(costs.best(None));
    liquid.list_costs = Some(costs);
    let told = follow(&mut liquid).expect("lists");
    assert!(told[0].starts_with("lists of clusters, each pair once: cutoff 2.5, built to "), "{told:?}");
    let slower = Costs { stride: costs.stride / 3.0, ..costs };
    assert_eq!(liquid.neighborhood.skins(), slower.best(None));
    assert_eq!(follow(&mut liquid).expect("lists"), [""; 0], "once");
}

/// The candidates by name, with the reason of those that were not tried.
fn fates(tuned: &Tuned) -> Vec<(String, Option<String>)> {
    let rows = tuned.rows.iter().map(|row| {
        let reason = match &row.fate {
            Fate::NotTried(reason) => Some(reason.clone()),
            Fate::Measured(_) | Fate::TooLarge(_) => None,
        };
        let pairs = if row.candidate.symmetric { "half " } else { "" };
        (format!("{pairs}{}", row.candidate.method.name()), reason)
    });
    rows.collect()
}

#[test]
fn processors_sweep_half_lists_of_clusters_unless_builds_dominate() {
    let mut liquid = started(&plan(LIQUID), &Communicator::solo());
    let tuned = tune(&mut liquid).expect("lists").expect("a choice");
    assert_eq!(tuned.settings, liquid.neighbors());
    assert_eq!((tuned.settings.method, tuned.settings.symmetric), (Method::Clusters, true));
    let found = fates(&tuned);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["half clusters", "clusters", "particles", "cells"]);
    assert_eq!(found[0].1, None);
    assert!(found[1..].iter().all(|(_, reason)| reason.is_some()), "{found:?}");
    assert_eq!(tuned.keys()[..2], ["method = \"clusters\"", "symmetric = true"]);
    let json = liquid.candidates.as_array().expect("rows");
    assert!(json[0]["chosen"] == true && json[0]["seconds_per_step"].as_f64() > Some(0.0), "{json:?}");
    assert!(json[3]["not_tried"].as_str().is_some_and(|reason| reason.contains("builds")), "{json:?}");

    // particles that cross a skin in a step need a new list in each: cells are measured, and forces stay
    let hot = LIQUID.replace("temperature = 1.44", "temperature = 40000.0\n    jitter = 0.05");
    let mut hot = started(&plan(&hot), &Communicator::solo());
    let forces = |simulation: &Simulation| {
        let owned = simulation.particles.owned();
        let mut rows: Vec<(u64, f64)> = owned
            .map(|row| {
                (simulation.particles.id[row], simulation.particles.vector_at(Field::Acceleration, row).x)
            })
            .collect();
        rows.sort_unstable_by_key(|(id, _)| *id);
        rows
    };
    let before = forces(&hot);
    let tuned = tune(&mut hot).expect("lists").expect("a choice");
    assert_eq!(fates(&tuned)[3], ("cells".into(), None), "cells were measured");
    let largest = before.iter().map(|(_, x)| x.abs()).fold(0.0, f64::max);
    for ((id, old), (other, new)) in before.iter().zip(forces(&hot)) {
        assert!(*id == other && (old - new).abs() < 1e-5 * largest, "{id}: {old} {new}");
    }
}

#[test]
fn a_deck_that_fixes_everything_leaves_nothing_to_choose() {
    let fixed = LIQUID.to_owned() + "[neighbors]\nmethod = \"clusters\"\nskin = 0.2\n";
    assert!(tune(&mut started(&plan(&fixed), &Communicator::solo())).expect("lists").is_none());
    // the skin is open, the method is not
    let open = LIQUID.to_owned() + "[neighbors]\nmethod = \"cells\"\n";
    let mut liquid = started(&plan(&open), &Communicator::solo());
    let tuned = tune(&mut liquid).expect("lists").expect("a skin");
    assert_eq!(fates(&tuned), [("cells".to_owned(), None)]);
    assert_eq!(liquid.neighbors().method, Method::Cells);
    assert!(tuned.summary().starts_with("cells of a grid: cutoff 2.5, "), "{}", tuned.summary());
}

#[test]
fn lists_beyond_the_memory_of_the_deck_are_not_chosen() {
    let tight = LIQUID.to_owned() + "[neighbors]\nmethod = \"auto\"\nmemory = 0.5\n";
    let mut liquid = started(&plan(&tight), &Communicator::solo());
    let tuned = tune(&mut liquid).expect("lists").expect("a choice");
    assert!(matches!(tuned.rows[0].fate, Fate::TooLarge(_)));
    let told = tuned.lines();
    assert!(
        told.last().is_some_and(|line| line.starts_with("no method keeps within neighbors.memory")),
        "{told:?}"
    );
    assert_eq!(liquid.neighbors().method, Method::Clusters, "the smallest one");
    let wide = tight.replace("memory = 0.5", "memory = 5000");
    let tuned = tune(&mut started(&plan(&wide), &Communicator::solo())).expect("lists").expect("a choice");
    assert!(matches!(tuned.rows[tuned.chosen].fate, Fate::Measured(_)));
}
