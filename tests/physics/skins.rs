//! The skins that a run chooses for its lists.

use crate::common::{plan, started};
use hilbrium::comm::Communicator;
use hilbrium::neighborhood::Costs;
use hilbrium::run::lists::{follow, tune};

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
    assert_eq!(follow(&mut liquid), None, "nothing was measured");
    assert!(tune(&mut liquid).expect("lists").is_some());
    let costs = liquid.list_costs.expect("skins were chosen by costs");
    assert_eq!(follow(&mut liquid), None, "particles are as fast as they were");

    // as if skins had been chosen for particles three times as fast, and lists cost this much
    let costs = Costs { build: 10.0, prune: 1.0, sweep: 4.0, stride: 3.0 * costs.stride, ..costs };
    liquid.neighborhood.set_skins(costs.best(None));
    liquid.list_costs = Some(costs);
    let told = follow(&mut liquid);
    assert!(told.is_some_and(|told| told.starts_with("lists: cutoff 2.5, built to ")));
    let slower = Costs { stride: costs.stride / 3.0, ..costs };
    assert_eq!(liquid.neighborhood.skins(), slower.best(None));
    assert_eq!(follow(&mut liquid), None, "once");
}
