//! The table of every section and key of a deck: the one source of what is allowed, what it means and what holds
//! when it is left out. Reading, defaults, suggestions, the JSON Schema and the commented decks all come from it.

mod gas;
mod measure;
mod molecules;
mod motion;
mod start;

pub(super) use gas::FEWEST_NEIGHBORS;

use super::plan::{
    Arrangement, AtomStyle, Coding, Device, Digits, FileFormat, FileUnits, Formulation, Gradients, Kernel,
    LatticeKind, ListKind, MultipoleOrder, OpeningCriterion, Precision, SofteningKernel, TrajectoryFormat,
    Velocities,
};
use crate::laws::{Interaction, coulomb};
pub use crate::sections::{
    ABOVE_ONE, ANY, BELOW_ONE, Default, FRACTION, Interval, Key, Kind, NOT_NEGATIVE, POSITIVE, Section,
    between, key, number, quantity, quoted, section, titled,
};
use crate::units::{Dimension, UnitSystem};

/// More particles than any machine holds: beyond it a number is a slip.
pub const MOST_PARTICLES: f64 = 1e12;
const COUNT: Kind = Kind::Integer(between(1.0, MOST_PARTICLES));
/// Integers beyond 2^53 do not survive in every JSON and TOML tool.
const EXACT: f64 = 9007199254740992.0;
const STEPS: Kind = Kind::Integer(between(1.0, EXACT));

const TIME: Kind = quantity(POSITIVE, Dimension::Time);

const EVERY_TIME: Key = key("every_time", TIME, Default::Unset("not by time"), "Interval in simulated time.")
    .also(&["dt", "interval", "time"]);
const EVERY_STEPS: Key =
    key("every_steps", STEPS, Default::Unset("not by steps"), "Interval in steps.").also(&["steps"]);
const EVERY_WALL: Key = key(
    "every_wall",
    Kind::Number(POSITIVE, Dimension::WallTime),
    Default::Unset("not by wall time"),
    "Interval in wall time, such as \"15min\".",
)
.also(&["every_time", "wall"]);

/// The parts of the table, in the order in which a deck is printed.
const PARTS: [&[Section]; 11] = [
    RUN,
    molecules::MATTER,
    start::SECTIONS,
    SPACE,
    gas::SECTIONS,
    molecules::INTERACTION,
    Interaction::SECTIONS,
    &[coulomb::SECTION],
    motion::SECTIONS,
    measure::SECTIONS,
    MACHINERY,
];

/// Every section, in the order in which a deck is printed. A section stands after the one around it.
pub const SECTIONS: &[Section] = &joined::<{ total(&PARTS) }>(&PARTS);

const fn total(parts: &[&[Section]]) -> usize {
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

const fn joined<const N: usize>(parts: &[&[Section]]) -> [Section; N] {
    let mut all = [section("", "", &[]); N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut k = 0;
        while k < parts[part].len() {
            all[next] = parts[part][k];
            next += 1;
            k += 1;
        }
        part += 1;
    }
    all
}

const RUN: &[Section] = &[
    section(
        "",
        "The deck.",
        &[key("title", Kind::Text, Default::Value("\"\""), "Free text, written to logs and files.")],
    ),
    section(
        "run",
        "How long, where and how precisely to compute; end_time or steps is required.",
        &[
            key(
                "end_time",
                quantity(NOT_NEGATIVE, Dimension::Time),
                Default::Unset("steps alone ends the run"),
                "Time at which the run ends, counted from the start of the first run; with a fixed step its first step at or after it.",
            )
            .also(&["tend", "t_end", "time", "final_time", "duration", "stop"]),
            key(
                "steps",
                Kind::Integer(between(0.0, EXACT)),
                Default::Unset("end_time alone ends the run"),
                "Steps after which the run ends, counted from the start of the first run; 0 evaluates the forces once, writes and ends.",
            )
            .also(&["max_steps", "nsteps", "step"]),
            key(
                "device",
                Kind::Choice(Device::NAMES),
                Default::Value("\"auto\""),
                "Where the particles live and the passes run; `auto` takes a GPU a rank where every rank finds one of its own.",
            )
            .also(&["gpu"]),
            key(
                "precision",
                Kind::Choice(Precision::NAMES),
                Default::Value("\"mixed\""),
                "Of the pair passes: mixed (single-precision offsets, double sums and state) or double.",
            ),
            key(
                "threads",
                Kind::Integer(between(1.0, 4096.0)),
                Default::Unset("what the machine offers each rank"),
                "Threads per rank.",
            )
            .also(&["cores", "num_threads"]),
        ],
    ),
];

const SPACE: &[Section] = &[section(
    "space",
    "The box and its boundaries.",
    &[
        key(
            "boundary",
            Kind::Choices(&["open", "periodic"]),
            Default::Unset("that of the start's file, else open"),
            "For all dimensions, or a list of three.",
        )
        .also(&["boundaries", "periodic", "bc"]),
        key(
            "lower",
            Kind::Numbers(ANY, Dimension::Length),
            Default::Unset("by the start"),
            "Lower corner of the box.",
        )
        .also(&["min", "box"]),
        key(
            "upper",
            Kind::Numbers(ANY, Dimension::Length),
            Default::Unset("by the start"),
            "Upper corner of the box.",
        )
        .also(&["max", "size", "lengths"]),
    ],
)];

const MACHINERY: &[Section] = &[
    section(
        "neighbors",
        "Neighbor lists.",
        &[
            key(
                "list",
                Kind::Choice(ListKind::NAMES),
                Default::Value("\"clustered\""),
                "Compressed clusters of particles, or a row of indices a particle.",
            )
            .also(&["kind", "type"]),
            key(
                "coding",
                Kind::Choice(Coding::NAMES),
                Default::Value("\"nibble\""),
                "How a clustered list codes its indices.",
            )
            .also(&["compression", "code"]),
            key(
                "symmetric",
                Kind::Flag,
                Default::Unset("the program's choice"),
                "Whether a pair is listed once (a half list) or from both sides (a full list).",
            )
            .also(&["half", "full"]),
            key(
                "skin",
                number(between(0.0, 1.0)),
                Default::Unset(
                    "for molecules by measuring, on GPUs 0.22 or what the box has room for; 0 for gas",
                ),
                "Margin for using a list again, as a fraction of each cutoff; 0 builds it every step.",
            ),
            key(
                "inner_skin",
                number(between(0.0, 1.0)),
                Default::Unset("for molecules by measuring, or 0.3 of `skin`; none for gas"),
                "Margin of a second list that is found in the first more often; half lists then name single particles, at about a byte a pair. 0 makes none. GPUs have one list.",
            ),
            key(
                "bucket_size",
                Kind::Integer(between(8.0, 4096.0)),
                Default::Value("64"),
                "Most particles in a leaf of the octree.",
            )
            .also(&["leaf_size"]),
        ],
    ),
    section(
        "time_step",
        "Criteria; the smallest step wins.",
        &[
            key("courant", number(FRACTION), Default::Value("0.4"), "Factor on h over the signal velocity.")
                .also(&["cfl"]),
            key(
                "acceleration",
                number(FRACTION),
                Default::Unset("0.2 with a gas, 0.07 without"),
                "Factor on sqrt(h / |a|); the softening length takes the place of h without a gas.",
            ),
            key(
                "energy",
                number(FRACTION),
                Default::Value("0.25"),
                "Largest relative change of internal energy.",
            ),
            key("expansion", number(FRACTION), Default::Value("0.06"), "Largest relative change of density."),
            key(
                "growth",
                number(ABOVE_ONE),
                Default::Value("1.1"),
                "Largest ratio of a step to the one before.",
            ),
            key("largest", TIME, Default::Unset("no limit"), "Largest step.")
                .also(&["max", "dt_max", "max_dt"]),
            key(
                "smallest",
                quantity(NOT_NEGATIVE, Dimension::Time),
                Default::Unset("1e-10 of run.end_time"),
                "A run that needs a smaller step ends with an error.",
            )
            .also(&["min", "dt_min", "min_dt"]),
            key("first", TIME, Default::Unset("by the criteria"), "First step.").also(&["initial", "dt0"]),
            key(
                "fixed",
                TIME,
                Default::Unset("by the criteria"),
                "The length of every step, instead of all criteria; outputs by time come at the nearest step.",
            )
            .also(&["dt", "size", "step"]),
        ],
    ),
    section(
        "output",
        "What is written, where and how often.",
        &[
            key(
                "directory",
                Kind::Path,
                Default::Value("\"out\""),
                "The folder of all files, relative to where the program is started.",
            )
            .also(&["dir", "folder", "path"]),
            key(
                "overwrite",
                Kind::Flag,
                Default::Value("false"),
                "Whether files of an earlier run may be replaced.",
            )
            .also(&["force"]),
        ],
    ),
    Section {
        one_of: true,
        ..section(
            "output.snapshots",
            "Snapshots, beside those of the first and the last state: one of",
            &[EVERY_TIME, EVERY_STEPS],
        )
    },
    Section {
        one_of: true,
        ..section(
            "output.checkpoint",
            "Checkpoints, beside those at the end, on signals and after a failed step: one of",
            &[EVERY_WALL, EVERY_STEPS],
        )
    },
    Section {
        one_of: true,
        ..section(
            "output.observables",
            "Lines of observables.csv (every step by default): one of",
            &[EVERY_STEPS, EVERY_TIME],
        )
    },
    Section {
        one_of: true,
        ..section(
            "output.trajectory",
            "A trajectory, one file of many frames, from the start on; one of every_steps and every_time is required.",
            &[
                EVERY_STEPS,
                EVERY_TIME,
                key(
                    "format",
                    Kind::Choice(TrajectoryFormat::NAMES),
                    Default::Value("\"h5md\""),
                    "H5MD (HDF5), or extended XYZ (text).",
                ),
                key("velocities", Kind::Flag, Default::Value("false"), "Whether velocities are written.")
                    .also(&["velocity"]),
                key("forces", Kind::Flag, Default::Value("false"), "Whether forces of pairs are written.")
                    .also(&["force"]),
                key(
                    "images",
                    Kind::Flag,
                    Default::Value("true"),
                    "Whether the periods that particles have crossed are written, in H5MD.",
                )
                .also(&["image", "unwrapped"]),
                key(
                    "precision",
                    Kind::Choice(Digits::NAMES),
                    Default::Value("\"single\""),
                    "Of what is stored.",
                ),
            ],
        )
    },
];

/// The section of that path, in which names of the user's may stand for themselves.
pub fn section_at(path: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.is_at(path))
}

/// The section of that name directly inside another, else the one there for names of the user's.
pub fn section_inside(section: &Section, name: &str) -> Option<&'static Section> {
    let inside = |wanted: &str| sections_inside(section.path).find(|(known, _)| *known == wanted);
    inside(name).or_else(|| inside("*")).map(|(_, section)| section)
}

/// The sections directly inside that of `path`, by their last names.
pub fn sections_inside(path: &str) -> impl Iterator<Item = (&'static str, &'static Section)> {
    let start = if path.is_empty() { String::new() } else { format!("{path}.") };
    SECTIONS.iter().filter(|section| !section.path.is_empty()).filter_map(move |section| {
        let name = section.path.strip_prefix(start.as_str())?;
        (!name.contains('.')).then_some((name, section))
    })
}
