//! Runs on any ranks and threads agree with the serial one in double precision, and the same ones give the same bits.

use crate::common::{difference, evolved, plan};
use hilbrium::particles::Field;

const STATE: &[Field] =
    &[Field::Position, Field::Velocity, Field::InternalEnergy, Field::SmoothingLength, Field::Density];

fn evrard(formulation: &str, precision: &str, opening_angle: f64) -> String {
    format!(
        r#"
        [run]
        steps = 20
        device = "cpu"
        precision = "{precision}"
        [start.evrard]
        particles = 2500
        [sph]
        formulation = "{formulation}"
        [gravity]
        opening_angle = {opening_angle:?}
        softening = 0.01
        "#
    )
}

/// A disturbed lattice in a periodic box: hydrodynamics alone.
fn periodic(formulation: &str) -> String {
    format!(
        r#"
        [run]
        steps = 20
        device = "cpu"
        precision = "double"
        [space]
        boundary = "periodic"
        [start.lattice]
        kind = "bcc"
        cells = [12, 12, 12]
        spacing = 0.1
        density = 1.0
        internal_energy = 1.0
        jitter = 0.15
        [sph]
        formulation = "{formulation}"
        neighbors = 50
        "#
    )
}

#[test]
fn ranks_and_threads_agree_with_the_serial_run() {
    for deck in [
        evrard("volume-elements", "double", 0.0),
        evrard("standard", "double", 0.0),
        periodic("volume-elements"),
        periodic("standard"),
    ] {
        let plan = plan(&deck);
        let serial = evolved(&plan, 1, 1, 20, STATE);
        for (ranks, threads) in [(1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (5, 1), (5, 2)] {
            let other = evolved(&plan, ranks, threads, 20, STATE);
            let apart = difference(&serial, &other);
            assert!(apart <= 1e-9, "{ranks} ranks, {threads} threads: {apart:e} apart\n{deck}");
        }
    }
}

#[test]
fn an_opened_tree_agrees_within_its_own_error() {
    let exact = evolved(&plan(&evrard("volume-elements", "double", 0.0)), 1, 1, 20, STATE);
    let tree = plan(&evrard("volume-elements", "double", 0.5));
    let serial = evolved(&tree, 1, 1, 20, STATE);
    let own_error = difference(&exact, &serial);
    assert!(own_error < 1e-2, "{own_error:e}");
    for ranks in [2, 3, 5] {
        let apart = difference(&serial, &evolved(&tree, ranks, 1, 20, STATE));
        assert!(apart <= own_error, "{ranks} ranks: {apart:e} apart, the tree's own error is {own_error:e}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for precision in ["mixed", "double"] {
        let mut deck = evrard("volume-elements", precision, 0.5);
        // more than two pieces of what threads share
        deck = deck.replace("particles = 2500", "particles = 5000");
        let plan = plan(&deck);
        let serial = evolved(&plan, 1, 1, 3, STATE);
        for threads in [2, 3] {
            assert!(serial == evolved(&plan, 1, threads, 3, STATE), "{threads} threads, {precision}");
        }
    }
}

#[test]
fn the_same_ranks_and_threads_give_the_same_bits() {
    for precision in ["mixed", "double"] {
        let plan = plan(&evrard("volume-elements", precision, 0.5));
        for (ranks, threads) in [(1, 2), (3, 2)] {
            let (first, second) =
                (evolved(&plan, ranks, threads, 5, STATE), evolved(&plan, ranks, threads, 5, STATE));
            assert!(first == second, "{ranks} ranks, {threads} threads, {precision}");
        }
    }
}
