//! `hilbrium watch`: as text, and as a display in a terminal.

use crate::common::program::Case;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

const DECK: &str = "title = \"a small collapse\"\n[run]\nsteps = 3\ndevice = \"cpu\"\nthreads = 1\n\
                    [start.evrard]\nparticles = 500\n[sph]\nneighbors = 60\n\
                    [output]\nobservables = { every_steps = 1 }\n";

#[test]
fn the_state_of_a_run_is_told_as_text() {
    let case = Case::new();
    let (status, text) = case.hilbrium(&["watch", "out"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("holds no run") && text.contains("help: name the output directory"), "{text}");
    assert_eq!(case.run(DECK, &[]).0, 0);
    // standard output is no terminal here
    for arguments in [&["watch", "out"][..], &["watch", "out", "--once"]] {
        let (status, text) = case.hilbrium(arguments);
        assert_eq!(status, 0, "{text}");
        for words in [
            "a small collapse: done",
            "step 3 of 3",
            "100.0 %",
            "momentum and energy",
            "energy drift",
            "snapshots: 2",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
    std::fs::write(case.path("out/status.json"), "{").unwrap();
    let (status, text) = case.hilbrium(&["watch", "out"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("status.json") && text.contains("no status"), "{text}");
}

/// In a pseudo-terminal of 80 columns, by `script` of util-linux.
#[test]
fn a_terminal_shows_the_run_until_a_key_is_pressed() {
    let case = Case::new();
    assert_eq!(case.run(DECK, &[]).0, 0);
    let shown = format!("stty rows 24 cols 80; exec {} watch out", env!("CARGO_BIN_EXE_hilbrium"));
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", &shown, "/dev/null"])
        .env("TERM", "xterm")
        .current_dir(case.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut screen = Vec::new();
    let mut bytes = [0; 4096];
    // the last line of the first display
    while !String::from_utf8_lossy(&screen).contains("not") {
        let count = output.read(&mut bytes).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&screen));
        screen.extend_from_slice(&bytes[..count]);
    }
    input.write_all(b"q").unwrap();
    output.read_to_end(&mut screen).unwrap();
    assert!(child.wait().unwrap().success());
    let text = String::from_utf8_lossy(&screen);
    for words in ["collapse", "phases", "viscosity", "max/avg"] {
        assert!(text.contains(words), "{words}: {text:?}");
    }
    // the alternate screen is entered and left
    assert!(text.contains("\u{1b}[?1049h") && text.contains("\u{1b}[?1049l"), "{text:?}");
}
