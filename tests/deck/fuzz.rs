//! No bytes make the deck reader panic, hang, or take memory without bound.

use hilbrium::deck;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Good decks to mutate, each with most of the grammar.
const SEEDS: [&str; 4] = [
    include_str!("../decks/good/everything.toml"),
    include_str!("../decks/good/random-fixed-step.toml"),
    include_str!("../decks/good/box-isothermal.toml"),
    include_str!("../decks/bad/many.toml"),
];

/// Texts that are special to the grammar or to numbers.
const SPLICES: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\\",
    "\\u0000",
    "\\UFFFFFFFF",
    "#",
    ",",
    "\n",
    "\r",
    "\0",
    "\u{feff}",
    "é",
    "\u{1F600}",
    "nan",
    "-inf",
    "1e999",
    "-0",
    "0x",
    "0xFFFFFFFFFFFFFFFFFF",
    "_",
    "1979-05-27",
    "[run]",
    "[[run]]",
    "run.",
    "sph.viscosity.",
    "every_time",
    " ",
    "\t",
    "true",
    "5/0",
    "\u{202e}",
    "99999999999999999999",
];

/// Read, and show the report: both must end soon.
fn examine(bytes: &[u8]) {
    let begin = Instant::now();
    if let Err(report) = deck::examine_bytes("fuzz.toml", bytes, &[]) {
        let shown = report.to_string();
        assert!(!report.mistakes().is_empty());
        assert!(shown.len() < 1 << 20, "{} bytes of report", shown.len());
        assert!(!shown.contains('\u{1b}') && !shown.contains('\0'));
        for place in report.mistakes().iter().take(100).filter_map(|mistake| mistake.place.as_ref()) {
            let (_, line, column) = report.locate(place);
            assert!(line >= 1 && column >= 1);
        }
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(30)]).into_owned();
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "{:?} for {} bytes of {start:?}",
        begin.elapsed(),
        bytes.len()
    );
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit =
        (any::<prop::sample::Index>(), 0..5u8, any::<u8>(), 0..SPLICES.len(), any::<prop::sample::Index>());
    (0..SEEDS.len(), prop::collection::vec(edit, 1..8)).prop_map(|(seed, edits)| {
        let mut bytes = SEEDS[seed].as_bytes().to_vec();
        for (at, kind, byte, splice, other) in edits {
            let at = at.index(bytes.len() + 1).min(bytes.len());
            let end = (at + other.index(40)).min(bytes.len());
            match kind {
                0 => bytes.insert(at, byte),
                1 => drop(bytes.drain(at..end)),
                2 => drop(bytes.splice(at..at, SPLICES[splice].bytes())),
                3 => drop(bytes.splice(at..end, SPLICES[splice].bytes())),
                _ => {
                    let copied = bytes[at..end].to_vec();
                    let to = other.index(bytes.len() + 1).min(bytes.len());
                    drop(bytes.splice(to..to, copied));
                }
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        examine(&bytes);
    }

    #[test]
    fn any_pieces_of_grammar(pieces in prop::collection::vec(0..SPLICES.len(), 0..60)) {
        examine(pieces.iter().map(|&k| SPLICES[k]).collect::<String>().as_bytes());
    }

    #[test]
    fn any_mutation_of_a_deck(bytes in mutated()) {
        examine(&bytes);
    }

    #[test]
    fn any_option(option in ".{0,40}", path in "[a-z_.]{0,20}", value in ".{0,20}") {
        for option in [option, format!("{path}={value}"), format!("run.end_time={value}"), format!("title={value}")] {
            if let Err(report) = deck::examine("deck.toml", SEEDS[0], &[option]) {
                let _ = report.to_string();
            }
        }
    }
}

/// The largest decks that are still read, made of what is worst for a parser.
#[test]
fn monstrous_decks_end_soon() {
    let piece = |text: &str| text.repeat(256 * 1024 / text.len());
    let many_keys: String = (0..25_000).map(|k| format!("key{k} = 1\n")).take(20_000).collect();
    let many_tables: String = (0..12_000).map(|k| format!("[t{k}.a.b]\n")).collect();
    for text in SPLICES.iter().chain(&[
        "x\n",
        "a=1\n",
        "[a]\n",
        "[[a]]\n",
        "{a=",
        "a={\n",
        "a=[",
        "a=['",
        "a.",
        "a.b.c=1\n",
    ]) {
        examine(piece(text).as_bytes());
        examine(format!("a = {}", piece(text)).as_bytes());
        examine(format!("[run]\nsteps = 1 {}", piece(text)).as_bytes());
    }
    for text in [
        many_keys,
        many_tables,
        piece("[gravity]\n"),
        piece("softening = -1\n"),
        format!("x = [{}]", piece("1,")),
    ] {
        examine(&text.as_bytes()[..text.len().min(256 * 1024)]);
    }
    // Nesting that adds up over lines: dots within tables within tables.
    let dots = ["a"; 20].join(".");
    let nested: String = (0..90).map(|_| format!("{dots} = {{\n")).collect();
    examine(nested.as_bytes());
    let closed = format!("{nested}{}", "}\n".repeat(90));
    examine(closed.as_bytes());
    examine(format!("a{} = 1", ".a".repeat(120_000)).as_bytes());
    examine(format!("a{} = 1", " . \"a\"".repeat(40_000)).as_bytes());
    examine(format!("[a{}]", ".'a'".repeat(60_000)).as_bytes());
}
