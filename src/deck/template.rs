//! Commented decks to start from, from the table of keys.

use super::keys::{Default, SECTIONS, Section};

/// A case that `new` knows.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name, which is that of its start.
    pub name: &'static str,
    title: &'static str,
    /// The optional sections it has.
    sections: &'static [&'static str],
    /// What it sets, beside the defaults; written as in a deck.
    settings: &'static [(&'static str, &'static str)],
}

/// The cases of `new`.
pub const CASES: &[Case] = &[
    Case {
        name: "evrard",
        title: "Evrard collapse",
        sections: &["sph", "gravity"],
        settings: &[
            ("run.end_time", "0.8"),
            ("start.evrard.particles", "100_000"),
            ("output.directory", "\"out/evrard\""),
            ("output.snapshots.every_time", "0.1"),
            ("output.checkpoint.every_wall", "\"15min\""),
        ],
    },
    Case {
        name: "uniform-box",
        title: "Uniform periodic box",
        sections: &["sph"],
        settings: &[
            ("run.steps", "20"),
            ("start.uniform-box.particles", "50_000"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/uniform-box\""),
        ],
    },
    Case {
        name: "lattice",
        title: "Lattice at rest",
        sections: &["sph"],
        settings: &[
            ("run.steps", "20"),
            ("start.lattice.cells", "[32, 32, 32]"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/lattice\""),
        ],
    },
    Case {
        name: "random",
        title: "Random positions in a periodic box",
        sections: &["sph"],
        settings: &[
            ("run.steps", "20"),
            ("start.random.particles", "50_000"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/random\""),
        ],
    },
    Case {
        name: "plummer",
        title: "Plummer sphere in equilibrium",
        sections: &["gravity"],
        settings: &[
            ("run.end_time", "1.0"),
            ("start.plummer.particles", "50_000"),
            ("gravity.softening", "0.01"),
            ("output.directory", "\"out/plummer\""),
            ("output.snapshots.every_time", "0.25"),
        ],
    },
    Case {
        name: "sedov",
        title: "Sedov explosion",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "0.06"),
            ("start.sedov.particles", "64_000"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/sedov\""),
            ("output.snapshots.every_time", "0.01"),
        ],
    },
    Case {
        name: "file",
        title: "From a snapshot",
        sections: &["sph", "gravity"],
        settings: &[
            ("run.end_time", "1.0"),
            ("start.file.path", "\"snapshot.hdf5\""),
            ("output.directory", "\"out/file\""),
            ("output.snapshots.every_time", "0.1"),
        ],
    },
];

/// The commented deck of a case: what it sets stands as it is, every other key in a comment with its default.
pub fn template(name: &str) -> Option<String> {
    let case = CASES.iter().find(|case| case.name == name)?;
    let mut text = format!(
        "# A deck for hilbrium. Run it with: hilbrium run DECK.toml\n\
         # Keys in comments show what holds without them.\n\ntitle = \"{}\"\n",
        case.title
    );
    for section in SECTIONS.iter().filter(|section| !section.path.is_empty() && !section.keys.is_empty()) {
        let other_case = section.path.starts_with("start.") && section.path != format!("start.{name}");
        if !other_case {
            write_section(&mut text, case, section);
        }
    }
    Some(text)
}

fn write_section(text: &mut String, case: &Case, section: &Section) {
    let set = |path: &str| case.settings.iter().find(|(known, _)| *known == path).map(|(_, value)| *value);
    let lines: Vec<(bool, String, String)> = section
        .keys
        .iter()
        .map(|key| {
            let (used, value) = match (set(&format!("{}.{}", section.path, key.name)), key.default) {
                (Some(value), _) => (true, value.to_string()),
                (None, Default::Value(value)) => (false, value.to_string()),
                (None, Default::Unset(meaning)) => (false, format!("...  ({meaning})")),
                (None, Default::Required) => (false, "... (required)".to_string()),
            };
            (used, format!("{} = {value}", key.name), help(key.meaning, &key.kind))
        })
        .collect();
    let optional = [
        "units",
        "species",
        "pair",
        "sph",
        "gravity",
        "interaction",
        "thermostat",
        "motion",
        "minimize",
        "measure",
    ]
    .iter()
    .any(|name| section.path.split('.').next() == Some(name));
    let required_part = case.sections.iter().any(|name| section.path.split('.').next() == Some(name));
    let used =
        lines.iter().any(|(used, ..)| *used) || (optional && required_part) || (!optional && !section.one_of);
    text.push_str(&format!("\n# {}\n", section.meaning));
    text.push_str(&format!("{}{}\n", if used { "" } else { "# " }, section.title()));
    for (used, line, help) in lines {
        let line = if used { line } else { format!("# {line}") };
        text.push_str(&format!("{line:<36} # {help}\n"));
    }
}

fn help(meaning: &str, kind: &super::keys::Kind) -> String {
    match kind {
        super::keys::Kind::Choice(names) if names.len() < 8 => format!("{meaning} {}", names.join(" | ")),
        super::keys::Kind::Choice(_) => {
            format!("{meaning} cubic-spline | wendland-c2, c4, c6 | sinc-3 to sinc-12")
        }
        _ => meaning.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck::check::literal;
    use crate::deck::examine;

    /// The same deck with every default that stands in a comment switched on.
    fn uncommented(text: &str) -> String {
        let key = |line: &str| {
            let Some(rest) = line.strip_prefix("# ") else { return false };
            rest.split_once(" = ").is_some_and(|(name, value)| {
                !value.starts_with("...") && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            })
        };
        let mut skipped = false;
        let mut lines = Vec::new();
        for line in text.lines() {
            if line.starts_with('[') || line.starts_with("# [") {
                skipped = line.starts_with('#');
            }
            lines.push(if key(line) && !skipped { line[2..].to_string() } else { line.to_string() });
        }
        lines.join("\n")
    }

    #[test]
    fn every_template_passes_and_says_its_defaults_truly() {
        for case in CASES.iter().filter(|case| case.name != "file") {
            let text = template(case.name).unwrap();
            let plan = examine("template", &text, &[]).unwrap_or_else(|report| panic!("{report}")).plan;
            let full = uncommented(&text)
                .replace("\nforce_error", "\n# force_error")
                .replace("\ntemperature", "\n# temperature");
            let same =
                examine("template", &full, &[]).unwrap_or_else(|report| panic!("{report}\n{full}")).plan;
            assert_eq!(plan, same, "{}", case.name);
            assert!(full.matches("\n# ").count() < text.matches("\n# ").count());
        }
    }

    #[test]
    fn the_file_template_lacks_only_its_file() {
        let report = examine("template", &template("file").unwrap(), &[]).unwrap_err();
        assert_eq!(report.mistakes().len(), 1, "{report}");
    }

    #[test]
    fn every_case_is_a_start() {
        for case in CASES {
            assert!(crate::deck::keys::section_at(&format!("start.{}", case.name)).is_some());
            for (path, value) in case.settings {
                let (section, name) = path.rsplit_once('.').unwrap();
                let key = crate::deck::keys::section_at(section).unwrap().key(name).unwrap();
                literal(&key.kind, value);
            }
        }
    }
}
