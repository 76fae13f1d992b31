//! `--set` options over a deck, and decks that cannot be read.

use hilbrium::Error;
use hilbrium::deck::{self, Plan};
use hilbrium::plan::{AnyCase, Every, Precision, StartPlan};
use std::path::Path;

const DECK: &str = "[run]\nend_time = 0.8\n\n[start.evrard]\nparticles = 1000\n\n[gravity]\n\n\
                    [output]\nsnapshots = { every_time = 0.1 }\n";

fn with(options: &[&str]) -> Result<Plan, String> {
    let options: Vec<String> = options.iter().map(|option| option.to_string()).collect();
    deck::examine("deck.toml", DECK, &options)
        .map(|checked| checked.plan)
        .map_err(|report| report.to_string())
}

#[test]
fn options_replace_add_and_need_no_quotes() {
    let plan = with(&[
        "output.directory=out/my run",
        "run.precision=double",
        "start.evrard.particles = 2_000",
        "output.checkpoint.every_wall=15min",
        "title=2024",
        "sph.neighbors=50",
        "space.lower=[-2,-2,-2]",
        "space.upper=2",
    ])
    .unwrap();
    assert_eq!(plan.output.directory, Path::new("out/my run"));
    assert_eq!(plan.run.precision, Precision::Double);
    assert!(matches!(&plan.start, StartPlan::Case(AnyCase::Evrard(case)) if case.particles == 2000));
    assert_eq!(plan.output.checkpoint, Some(Every::EveryWall(900.0)));
    assert_eq!(plan.title, "2024");
    assert_eq!(plan.sph.unwrap().neighbors, 50.0);
    assert_eq!(plan.space.corners, Some([[-2.0; 3], [2.0; 3]]));
}

#[test]
fn an_interval_replaces_the_other_and_the_last_option_wins() {
    let plan = with(&["output.snapshots.every_steps=5"]).unwrap();
    assert_eq!(plan.output.snapshots, Some(Every::EverySteps(5)));
    let plan = with(&["output.snapshots={every_steps=5}", "run.end_time=1", "run.end_time=2"]).unwrap();
    assert_eq!(plan.output.snapshots, Some(Every::EverySteps(5)));
    assert_eq!(plan.run.end_time, Some(2.0));
}

#[test]
fn quoted_texts_keep_their_meaning() {
    assert_eq!(with(&["title=\"a \\\"b\\\"\""]).unwrap().title, "a \"b\"");
    assert_eq!(with(&["output.directory='x y'"]).unwrap().output.directory, Path::new("x y"));
}

#[test]
fn mistakes_in_options_name_the_option() {
    for (option, message) in [
        ("run.end_time", "this is no key=value"),
        ("=5", "this is no key=value"),
        ("run.end_time=", "this is no key=value"),
        ("run..end_time=5", "unknown"),
        ("run.end_time=-1", "`end_time` must be at least 0, not -1"),
        ("run.ende_time=1", "did you mean `end_time`?"),
        ("grvity.softening=1", "did you mean `gravity`?"),
        ("gravity=off", "`gravity` is a section"),
        ("run.end_time=soon", "not the text \"soon\""),
        ("run.end_time=1\nrun.steps=5", "unknown unit `run`"),
        ("run.end_time=5 # half", "must be a number"),
        ("start.plummer.particles=5", "more than one start"),
    ] {
        let report = match with(&[option]) {
            Err(report) => report,
            Ok(plan) => {
                // A comment after a value is TOML like any other.
                assert_eq!((option, plan.run.end_time), ("run.end_time=5 # half", Some(5.0)));
                continue;
            }
        };
        assert!(report.contains(message), "{option}: {report}");
        assert!(report.contains("--> option --set "), "{option}: {report}");
    }
}

#[test]
fn files_that_are_no_decks_are_refused_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |path: &Path| {
        let error = deck::read(path, &[]).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(matches!(error, Error::Usage { .. } | Error::Deck { .. }));
        error.to_string()
    };
    assert!(refusal(folder.path()).contains("is a folder"));
    assert!(refusal(&folder.path().join("none.toml")).contains("cannot read"));
    let large = folder.path().join("large.toml");
    std::fs::File::create(&large).unwrap().set_len(100 << 20).unwrap();
    let begin = std::time::Instant::now();
    assert!(refusal(&large).contains("too large for a deck"));
    assert!(begin.elapsed().as_secs_f64() < 1.0);
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, b"title = \"x\"\n\x89HDF\xff\xfe").unwrap();
    let said = refusal(&binary);
    assert!(said.contains("not UTF-8") && said.contains(":2:1"), "{said}");
    let empty = folder.path().join("empty.toml");
    std::fs::write(&empty, "").unwrap();
    assert!(refusal(&empty).contains("the deck has no start"));
}
