//! Generates the commented decks of `hilbrium new` from the table of keys.

use super::keys::{Default, SECTIONS, Section};
use crate::cases::{AnyCase, Template};

/// A deck of `hilbrium new`.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// The start: section `[start.START]`.
    start: &'static str,
    /// Sections and settings. An omitted `SECTION.*` stands for all keys of a section that are not set.
    template: Template,
}

/// Keys without effect in a deck of molecules with a fixed step, and further ones.
macro_rules! molecular {
    ($($more:literal),*) => {
        &["time_step.*", "start.lattice.internal_energy", "start.lattice.jitter", $($more),*]
    };
}

/// All decks of `hilbrium new`: those of the test cases, then the others.
pub fn cases() -> impl Iterator<Item = Case> {
    let own = AnyCase::names().zip(AnyCase::TEMPLATES);
    own.map(|(name, &template)| Case { name, start: name, template }).chain(OTHERS.iter().copied())
}

/// Decks that are no test case.
const OTHERS: &[Case] = &[
    Case {
        name: "uniform-box",
        start: "uniform-box",
        template: Template {
            title: "Uniform periodic box",
            sections: &["sph"],
            settings: &[
                ("run.steps", "20"),
                ("start.uniform-box.particles", "50_000"),
                ("space.boundary", "\"periodic\""),
                ("output.directory", "\"out/uniform-box\""),
            ],
            omitted: &[],
        },
    },
    Case {
        name: "lattice",
        start: "lattice",
        template: Template {
            title: "Lattice at rest",
            sections: &["sph"],
            settings: &[
                ("run.steps", "20"),
                ("start.lattice.cells", "[32, 32, 32]"),
                ("space.boundary", "\"periodic\""),
                ("output.directory", "\"out/lattice\""),
            ],
            omitted: &[],
        },
    },
    Case {
        name: "random",
        start: "random",
        template: Template {
            title: "Random positions in a periodic box",
            sections: &["sph"],
            settings: &[
                ("run.steps", "20"),
                ("start.random.particles", "50_000"),
                ("space.boundary", "\"periodic\""),
                ("output.directory", "\"out/random\""),
            ],
            omitted: &[],
        },
    },
    Case {
        name: "radial-table",
        start: "radial-table",
        template: Template {
            title: "Gas sphere from a table of radii and densities",
            sections: &["sph", "gravity"],
            settings: &[
                ("run.end_time", "1.0"),
                ("start.radial-table.path", "\"table.txt\""),
                ("start.radial-table.particles", "50_000"),
                ("output.directory", "\"out/radial-table\""),
                ("output.snapshots.every_time", "0.1"),
            ],
            omitted: &[],
        },
    },
    Case {
        name: "argon",
        start: "lattice",
        template: Template {
            title: "Liquid argon",
            sections: &["interaction.lennard-jones"],
            settings: &[
                ("run.end_time", "\"10 ps\""),
                ("units.system", "\"molecular\""),
                ("species.Ar.mass", "39.948"),
                ("species.Ar.epsilon", "\"119.8 K\""),
                ("species.Ar.sigma", "\"3.405 angstrom\""),
                ("start.lattice.kind", "\"fcc\""),
                ("start.lattice.cells", "[6, 6, 6]"),
                ("start.lattice.density", "\"1374 kg/m3\""),
                ("start.lattice.temperature", "\"184 K\""),
                ("space.boundary", "\"periodic\""),
                ("interaction.lennard-jones.cutoff", "\"8.5 angstrom\""),
                ("interaction.lennard-jones.tail", "true"),
                ("time_step.fixed", "\"5 fs\""),
                ("output.directory", "\"out/argon\""),
                ("output.observables.every_steps", "10"),
            ],
            omitted: molecular!(
                "start.lattice.spacing",
                "species.Ar.charge",
                "interaction.lennard-jones.epsilon",
                "interaction.lennard-jones.sigma",
                "interaction.lennard-jones.mixing"
            ),
        },
    },
    Case {
        name: "salt",
        start: "lattice",
        template: Template {
            title: "Rock salt with all periodic images of its charges",
            sections: &["interaction.lennard-jones", "interaction.coulomb"],
            settings: &[
                ("run.end_time", "\"5 ps\""),
                ("units.system", "\"molecular\""),
                ("species.Na.mass", "22.98977"),
                ("species.Na.charge", "1.0"),
                ("species.Na.epsilon", "\"0.3526418 kcal/mol\""),
                ("species.Na.sigma", "\"2.159538 angstrom\""),
                ("species.Cl.mass", "35.453"),
                ("species.Cl.charge", "-1.0"),
                ("species.Cl.epsilon", "\"0.0127850 kcal/mol\""),
                ("species.Cl.sigma", "\"4.830453 angstrom\""),
                ("start.lattice.kind", "\"rock-salt\""),
                ("start.lattice.cells", "[5, 5, 5]"),
                ("start.lattice.spacing", "\"5.64 angstrom\""),
                ("start.lattice.temperature", "\"600 K\""),
                ("space.boundary", "\"periodic\""),
                ("interaction.lennard-jones.cutoff", "\"12 angstrom\""),
                ("interaction.coulomb.method", "\"pme\""),
                ("time_step.fixed", "\"2 fs\""),
                ("output.directory", "\"out/salt\""),
                ("output.observables.every_steps", "10"),
            ],
            omitted: molecular!(
                "start.lattice.density",
                "interaction.lennard-jones.epsilon",
                "interaction.lennard-jones.sigma",
                "interaction.coulomb.truncation",
                "interaction.coulomb.permittivity"
            ),
        },
    },
    Case {
        name: "liquid",
        start: "lattice",
        template: Template {
            title: "Lennard-Jones liquid in reduced units",
            sections: &["interaction.lennard-jones"],
            settings: &[
                ("run.steps", "1000"),
                ("start.lattice.kind", "\"fcc\""),
                ("start.lattice.cells", "[10, 10, 10]"),
                ("start.lattice.spacing", "1.6795962"),
                ("start.lattice.density", "0.8442"),
                ("start.lattice.temperature", "1.44"),
                ("space.boundary", "\"periodic\""),
                ("interaction.lennard-jones.cutoff", "2.5"),
                ("time_step.fixed", "0.004"),
                ("output.directory", "\"out/liquid\""),
                ("output.observables.every_steps", "10"),
            ],
            omitted: molecular!("interaction.lennard-jones.mixing"),
        },
    },
    Case {
        name: "file",
        start: "file",
        template: Template {
            title: "From a snapshot",
            sections: &["sph", "gravity"],
            settings: &[
                ("run.end_time", "1.0"),
                ("start.file.path", "\"snapshot.hdf5\""),
                ("output.directory", "\"out/file\""),
                ("output.snapshots.every_time", "0.1"),
            ],
            omitted: &[],
        },
    },
];

/// Returns the commented deck of a case: its settings, and every other key as a comment with its default.
pub fn template(name: &str) -> Option<String> {
    let case = cases().find(|case| case.name == name)?;
    let mut text = format!(
        "# A deck for hilbrium. Run it with: hilbrium run DECK.toml\n\
         # Keys in comments show what holds without them.\n\ntitle = \"{}\"\n",
        case.template.title
    );
    for section in SECTIONS.iter().filter(|section| !section.path.is_empty() && !section.keys.is_empty()) {
        let other_case =
            section.path.starts_with("start.") && section.path != format!("start.{}", case.start);
        // keys of the user's own have nothing to show
        if !other_case && section.chosen_key().is_none() {
            case.paths(section).iter().for_each(|path| write_section(&mut text, &case, section, path));
        }
    }
    Some(text)
}

impl Case {
    /// Returns the paths at which the case has the section: for a wildcard section those of its settings, if
    /// any.
    fn paths(&self, section: &Section) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        if section.has_wildcard() {
            let set = self.template.settings.iter().filter_map(|(path, _)| path.rsplit_once('.'));
            for (path, _) in set.filter(|(path, _)| section.is_at(path)) {
                if paths.iter().all(|known| known != path) {
                    paths.push(path.to_owned());
                }
            }
        }
        if paths.is_empty() { vec![section.path.to_owned()] } else { paths }
    }

    fn setting(&self, path: &str) -> Option<&'static str> {
        self.template.settings.iter().find(|(known, _)| *known == path).map(|(_, value)| *value)
    }

    fn omits(&self, section: &str, key: &str) -> bool {
        let whole = |omitted: &str| omitted.strip_suffix(".*") == Some(section);
        let one = |omitted: &str| omitted.rsplit_once('.') == Some((section, key));
        self.template.omitted.iter().any(|omitted| whole(omitted) || one(omitted))
    }

    /// Whether the case has an optional section even if it sets nothing there.
    fn includes(&self, path: &str) -> bool {
        self.template.sections.iter().any(|name| *name == path || path.split('.').next() == Some(name))
    }
}

/// First path components of optional sections.
const OPTIONAL: [&str; 11] = [
    "units",
    "species",
    "pair",
    "sph",
    "gravity",
    "external",
    "interaction",
    "thermostat",
    "motion",
    "minimize",
    "measure",
];

fn write_section(text: &mut String, case: &Case, section: &Section, path: &str) {
    let shown = section.keys.iter().filter_map(|key| {
        let set = case.setting(&format!("{path}.{}", key.name));
        (set.is_some() || !case.omits(path, key.name)).then_some((key, set))
    });
    let lines: Vec<(bool, String, String)> = shown
        .map(|(key, set)| {
            let value = match (set, key.default) {
                (Some(value), _) | (None, Default::Value(value)) => value.to_string(),
                (None, Default::Unset(meaning)) => format!("...  ({meaning})"),
                (None, Default::Required) => "... (required)".to_string(),
            };
            (set.is_some(), format!("{} = {value}", key.name), help(key.meaning, &key.kind))
        })
        .collect();
    let optional = OPTIONAL.iter().any(|name| path.split('.').next() == Some(name));
    let used = lines.iter().any(|(used, ..)| *used)
        || (optional && case.includes(path))
        || (!optional && !section.one_of);
    let title = if path == section.path { section.title() } else { format!("[{path}]") };
    text.push_str(&format!("\n# {}\n", section.meaning));
    text.push_str(&format!("{}{title}\n", if used { "" } else { "# " }));
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

    /// Uncomments every default of the active sections.
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
        for case in cases().filter(|case| !OF_FILES.contains(&case.name)) {
            let text = template(case.name).unwrap();
            let plan = examine("template", &text, &[]).unwrap_or_else(|report| panic!("{report}")).plan;
            let full = uncommented(&text)
                .replace("\nforce_error", "\n# force_error")
                .replace("\ntemperature = 0.0", "\n# temperature = 0.0");
            let same =
                examine("template", &full, &[]).unwrap_or_else(|report| panic!("{report}\n{full}")).plan;
            assert_eq!(plan, same, "{}", case.name);
            assert!(full.matches("\n# ").count() < text.matches("\n# ").count());
        }
    }

    /// Cases that name a file.
    const OF_FILES: [&str; 2] = ["file", "radial-table"];

    #[test]
    fn the_templates_of_files_lack_only_the_file() {
        for name in OF_FILES {
            let report = examine("template", &template(name).unwrap(), &[]).unwrap_err();
            assert_eq!(report.mistakes().len(), 1, "{report}");
        }
    }

    #[test]
    fn every_case_has_a_start_and_names_only_keys() {
        use crate::deck::keys::section_at;
        for case in cases() {
            assert!(section_at(&format!("start.{}", case.start)).is_some());
            let molecular = case.setting("units.system").is_some();
            for (path, value) in case.template.settings {
                let (section, name) = path.rsplit_once('.').unwrap();
                let key = section_at(section).unwrap().key(name).unwrap();
                // values with units are read in the deck's own unit system
                assert!(molecular || !literal(&key.kind, value).to_toml().is_empty());
            }
            for path in case.template.omitted {
                let (section, name) = path.rsplit_once('.').unwrap();
                assert!(name == "*" || section_at(section).unwrap().key(name).is_some(), "{path}");
            }
        }
    }

    #[test]
    fn species_stand_under_their_names() {
        let text = template("salt").unwrap();
        for part in [
            "[species.Na]\nmass = 22.98977",
            "[species.Cl]\n",
            "[interaction.coulomb]\n",
            "# [thermostat.langevin]",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("species.NAME") && !text.contains("courant"), "{text}");
    }
}
