//! Sessions, which a caller steps: they have the bits of the program's run.

use crate::common::program::Case;
use hilbrium::deck;
use hilbrium::particles::{Field, Particles};
use hilbrium::run::session::Session;
use hilbrium::snapshot::trajectory::Frames;

const ARGON: &str = "[run]\nsteps = 20\nprecision = \"double\"\nthreads = 2\ndevice = \"cpu\"\n\
    [units]\nsystem = \"molecular\"\n\
    [species.Ar]\nmass = 39.948\nepsilon = \"119.8 K\"\nsigma = \"3.405 angstrom\"\n\
    [space]\nboundary = \"periodic\"\n\
    [interaction.lennard-jones]\ncutoff = \"8 angstrom\"\n\
    [neighbors]\nskin = 0.12\n[time_step]\nfixed = \"5 fs\"\n\
    [output]\nobservables = { every_steps = 5 }\ncheckpoint = { every_steps = 7 }\n\
    [output.trajectory]\nevery_steps = 10\nvelocities = true\nforces = true\nprecision = \"double\"\n";

const START: &str = "[start.lattice]\nkind = \"fcc\"\ncells = [4, 4, 4]\nspacing = 0.55\n\
    temperature = \"184 K\"\njitter = 0.02\n";

fn checked(deck: &str) -> deck::Checked {
    deck::examine_for_session("deck", deck, &[], false).unwrap_or_else(|report| panic!("{report}"))
}

/// Positions, velocities and forces of a session equal those of a frame, bit by bit.
fn assert_frame(session: &mut Session, frames: &Frames, frame: u64) {
    assert_eq!(session.simulation().step, frames.steps[frame as usize]);
    assert_eq!(session.ids(), frames.ids);
    for field in [Field::Position, Field::Velocity, Field::Force] {
        let (ours, theirs) = (session.values(field).unwrap(), frames.read(field, frame).unwrap());
        assert!(ours.is_some() && ours == theirs, "{} of frame {frame}", field.name());
    }
}

#[test]
fn steps_and_energies_have_the_bits_of_the_run() {
    let (case, deck) = (Case::new(), format!("{ARGON}{START}"));
    let (status, said) = case.run(&deck, &["output.directory=out"]);
    assert_eq!(status, 0, "{said}");
    let frames = Frames::open(&case.path("out/trajectory.h5md")).unwrap();
    let totals = case.column("out", "total_energy");
    let mut session = Session::start(&checked(&deck)).unwrap();
    for step in 0..=20 {
        if step % 5 == 0 {
            let total = session.energies().unwrap().observed.total_energy();
            assert_eq!(total, totals[step / 5], "step {step}");
        }
        if step % 10 == 0 {
            assert_frame(&mut session, &frames, step as u64 / 10);
        }
        // looking between outputs changes nothing
        session.values(Field::Velocity).unwrap();
        assert_eq!(session.advance(1, || false).unwrap(), 1);
    }
    // 21 steps: beyond the end of the deck
    assert!(session.is_done());
}

#[test]
fn given_and_set_particles_have_the_forces_of_the_run() {
    let mut whole = Session::start(&checked(&format!("{ARGON}{START}"))).unwrap();
    let [positions, forces] =
        [Field::Position, Field::Force].map(|field| whole.values(field).unwrap().unwrap());
    let count = positions.len() / 3;
    let mut particles = Particles::new(&[Field::Position], count);
    for (row, position) in positions.chunks(3).enumerate() {
        particles.set_vector(Field::Position, row, [position[0], position[1], position[2]].into());
    }
    let corners = ["space.lower=[0.0, 0.0, 0.0]", "space.upper=[2.2, 2.2, 2.2]"].map(str::to_owned);
    let deck = deck::examine_for_session("deck", ARGON, &corners, true);
    let deck = deck.unwrap_or_else(|report| panic!("{report}"));
    let mut session = Session::start_from(&deck, &[], particles.clone()).unwrap();
    assert_eq!(session.values(Field::Force).unwrap().unwrap(), forces);
    let shifted: Vec<f64> = positions.iter().map(|x| x + 0.1).collect();
    session.set(&[(Field::Position, shifted), (Field::Mass, vec![20.0; count])]).unwrap();
    assert_ne!(session.values(Field::Force).unwrap().unwrap(), forces);
    session.set(&[(Field::Position, positions.clone())]).unwrap();
    assert_eq!(session.values(Field::Force).unwrap().unwrap(), forces);
    assert_eq!(session.values(Field::Mass).unwrap().unwrap(), vec![20.0; count]);

    // what cannot be set changes nothing
    for (field, values, words) in [
        (Field::Position, vec![0.0; 3], "3 values of position"),
        (Field::Position, vec![f64::NAN; 3 * count], "finite"),
        (Field::Mass, vec![0.0; count], "positive"),
        (Field::Force, vec![0.0; 3 * count], "cannot be set"),
        (Field::InternalEnergy, vec![0.0; count], "cannot be set"),
    ] {
        let error = session.set(&[(field, values)]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(session.values(Field::Force).unwrap().unwrap(), forces);

    particles.id[0] = 1;
    let error = Session::start_from(&deck, &[], particles).err().unwrap().to_string();
    assert!(error.contains("more than once"), "{error}");
    let report = deck::examine_for_session("deck", &format!("{ARGON}{START}"), &[], true).unwrap_err();
    assert!(report.to_string().contains("particles are given"), "{report}");
}
