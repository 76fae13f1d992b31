//! Table of every section and key of a deck: the only source of allowed values, meanings and defaults.
//! Parsing, suggestions, the JSON Schema, the reference page and the commented decks are derived from it.

mod gas;
mod measure;
mod molecules;
mod motion;
mod start;

pub(super) use gas::MIN_NEIGHBORS;

use crate::cases::AnyCase;
pub use crate::cases::case::MAX_PARTICLES;
use crate::laws::formula::{self, SPECIES_PARAMETERS};
use crate::laws::{Interaction, coulomb};
use crate::plan::{
    AtomStyle, Coding, Device, Digits, Distance, FileFormat, FileUnits, Formulation, Gradients, Kernel,
    LatticeKind, Method, MultipoleOrder, OpeningCriterion, Precision, SofteningKernel, TrajectoryFormat,
    VolumeEstimate,
};
pub use crate::sections::{
    ABOVE_ONE, ANY, BELOW_ONE, CHOSEN, Default, EXACT, FRACTION, Interval, Key, Kind, NOT_NEGATIVE, POSITIVE,
    Section, between, key, number, quantity, quoted, section, section_title,
};
use crate::units::{Dimension, UnitSystem};

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

/// Groups of sections, in the order in which a deck is printed.
const GROUPS: [&[Section]; 13] = [
    RUN,
    molecules::MATTER,
    start::SECTIONS,
    AnyCase::SECTIONS,
    SPACE,
    gas::SECTIONS,
    molecules::INTERACTION,
    Interaction::SECTIONS,
    &[formula::PARAMETERS],
    &[coulomb::SECTION],
    motion::SECTIONS,
    measure::SECTIONS,
    NUMERICS,
];

/// Every section, in the order in which a deck is printed; a section follows the one that contains it.
pub const SECTIONS: &[Section] = &concatenated::<{ total_length(&GROUPS) }>(&GROUPS);

const fn total_length(parts: &[&[Section]]) -> usize {
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

const fn concatenated<const N: usize>(parts: &[&[Section]]) -> [Section; N] {
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
        "Duration, device and precision of the run; end_time or steps is required.",
        &[
            key(
                "end_time",
                quantity(NOT_NEGATIVE, Dimension::Time),
                Default::Unset("steps alone ends the run"),
                "End time, counted from the start of the first run; with a fixed step the run ends at the \
                 first step at or after it.",
            )
            .also(&["tend", "t_end", "time", "final_time", "duration", "stop"]),
            key(
                "steps",
                Kind::Integer(between(0.0, EXACT)),
                Default::Unset("end_time alone ends the run"),
                "Number of steps, counted from the start of the first run; 0 evaluates the forces once, \
                 writes the outputs and ends.",
            )
            .also(&["max_steps", "nsteps", "step"]),
            key(
                "device",
                Kind::Choice(Device::NAMES),
                Default::Value("\"auto\""),
                "Where particles are stored and passes run; `auto` takes one GPU per rank if every rank \
                 finds one of its own, else the CPU.",
            )
            .also(&["gpu"]),
            key(
                "precision",
                Kind::Choice(Precision::NAMES),
                Default::Value("\"mixed\""),
                "Precision of the pair passes: mixed (single-precision offsets, double sums and state) or \
                 double.",
            ),
            key(
                "threads",
                Kind::Integer(between(1.0, 4096.0)),
                Default::Unset("the cores available to each rank"),
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
            "One boundary for all dimensions, or a list of three.",
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

const NUMERICS: &[Section] = &[
    section(
        "neighbors",
        "Neighbor lists.",
        &[
            key(
                "method",
                Kind::Choice(Method::NAMES),
                Default::Unset(
                    "\"clusters\"; if `skin` is not set, \"auto\" for molecules, and for a gas on GPUs \
                     \"particles\" where the memory suffices",
                ),
                "How pairs are found: lists of clusters, lists of the neighbors of each particle, cells of a \
                 grid, two-level search without a list (GPUs only), or the fastest of them in measured force \
                 evaluations of the run.",
            )
            .also(&["kind", "type", "list", "algorithm", "scheme"]),
            key(
                "memory",
                number(POSITIVE),
                Default::Unset("a quarter of the free memory"),
                "Bytes per particle that lists or cells may take with method = \"auto\".",
            )
            .also(&["max_memory", "memory_limit"]),
            key(
                "coding",
                Kind::Choice(Coding::NAMES),
                Default::Value("\"nibble\""),
                "Compression of the indices of cluster lists.",
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
                    "for molecules chosen by timing (0.22, or the largest that the box allows, for few on a GPU); 0 for \
                     gas",
                ),
                "Verlet skin: margin for reusing a list for several steps, as a fraction of each cutoff; 0 \
                 rebuilds it every step.",
            ),
            key(
                "inner_skin",
                number(between(0.0, 1.0)),
                Default::Unset("for molecules chosen by timing, or 0.3 of `skin`; none for gas"),
                "Skin of an inner list, which is pruned from the outer one more often than that is rebuilt; \
                 half lists of molecules name single particles, at about a byte per pair. 0: no inner list. GPUs \
                 have one list.",
            ),
            key(
                "bucket_size",
                Kind::Integer(between(8.0, 4096.0)),
                Default::Value("64"),
                "Largest number of particles in a leaf of the octree.",
            )
            .also(&["leaf_size"]),
        ],
    ),
    section(
        "time_step",
        "Criteria of the time step; the smallest step wins.",
        &[
            key(
                "courant",
                number(FRACTION),
                Default::Value("0.4"),
                "Courant factor, on h over the signal velocity.",
            )
            .also(&["cfl"]),
            key(
                "acceleration",
                number(FRACTION),
                Default::Unset("0.2 with a gas, 0.07 without"),
                "Factor on sqrt(h / |a|); without gas the softening length replaces h.",
            ),
            key(
                "energy",
                number(FRACTION),
                Default::Value("0.25"),
                "Largest relative change of internal energy in a step.",
            ),
            key(
                "expansion",
                number(FRACTION),
                Default::Value("0.06"),
                "Largest relative change of density in a step.",
            ),
            key(
                "growth",
                number(ABOVE_ONE),
                Default::Value("1.1"),
                "Largest ratio of a step to the previous one.",
            ),
            key("largest", TIME, Default::Unset("no limit"), "Largest step.")
                .also(&["max", "dt_max", "max_dt"]),
            key(
                "smallest",
                quantity(NOT_NEGATIVE, Dimension::Time),
                Default::Unset("1e-10 of run.end_time"),
                "Smallest step; a run that needs a smaller one fails.",
            )
            .also(&["min", "dt_min", "min_dt"]),
            key("first", TIME, Default::Unset("by the criteria"), "First step.").also(&["initial", "dt0"]),
            key(
                "fixed",
                TIME,
                Default::Unset("by the criteria"),
                "Length of every step, instead of all criteria; outputs by time are written at the nearest \
                 step.",
            )
            .also(&["dt", "size", "step"]),
        ],
    ),
    section(
        "output",
        "Output files and their intervals.",
        &[
            key(
                "directory",
                Kind::Path,
                Default::Value("\"out\""),
                "Directory of all output files, relative to the working directory.",
            )
            .also(&["dir", "folder", "path"]),
            key(
                "overwrite",
                Kind::Flag,
                Default::Value("false"),
                "Whether files of an earlier run may be overwritten.",
            )
            .also(&["force"]),
        ],
    ),
    Section {
        one_of: true,
        ..section(
            "output.snapshots",
            "Interval of snapshots, beside those of the first and the last state: one of",
            &[EVERY_TIME, EVERY_STEPS],
        )
    },
    Section {
        one_of: true,
        ..section(
            "output.checkpoint",
            "Interval of checkpoints, beside those at the end, on signals and after a failed step: one of",
            &[EVERY_WALL, EVERY_STEPS],
        )
    },
    Section {
        one_of: true,
        ..section(
            "output.observables",
            "Interval of the lines of observables.csv (every step by default): one of",
            &[EVERY_STEPS, EVERY_TIME],
        )
    },
    Section {
        one_of: true,
        ..section(
            "output.report",
            "Rewrites report.html during the run and at its end, as `hilbrium report` does; less often than \
             given if pages would take more than 0.5 % of the run: one of",
            &[EVERY_WALL, EVERY_STEPS],
        )
    },
    Section {
        one_of: true,
        ..section(
            "output.trajectory",
            "A trajectory: one file of many frames, from the initial state on; one of every_steps and \
             every_time is required.",
            &[
                EVERY_STEPS,
                EVERY_TIME,
                key(
                    "format",
                    Kind::Choice(TrajectoryFormat::NAMES),
                    Default::Value("\"h5md\""),
                    "H5MD (HDF5), extended XYZ (text), XTC of GROMACS, DCD of CHARMM and NAMD, or a LAMMPS \
                     dump (text).",
                ),
                key("velocities", Kind::Flag, Default::Value("false"), "Whether velocities are written.")
                    .also(&["velocity"]),
                key("forces", Kind::Flag, Default::Value("false"), "Whether pair forces are written.")
                    .also(&["force"]),
                key(
                    "images",
                    Kind::Flag,
                    Default::Value("true"),
                    "Whether image counts (periods that each particle has crossed) are written, in H5MD and \
                     LAMMPS dumps.",
                )
                .also(&["image", "unwrapped"]),
                key(
                    "precision",
                    Kind::Choice(Digits::NAMES),
                    Default::Value("\"single\""),
                    "Precision of the stored values, in H5MD, extended XYZ and LAMMPS dumps.",
                ),
                key(
                    "resolution",
                    quantity(between(1e-9, 1e9), Dimension::Length),
                    Default::Value("0.001"),
                    "Spacing of the stored coordinates, in XTC: errors are at most half of it.",
                )
                .also(&["xtc_precision", "compressed_x_precision"]),
            ],
        )
    },
];

/// Returns the section that matches `path`, where `*` matches any name.
pub fn section_at(path: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.is_at(path))
}

/// Returns the section `name` directly inside `section`, else the wildcard section there.
pub fn section_inside(section: &Section, name: &str) -> Option<&'static Section> {
    let inside = |wanted: &str| sections_inside(section.path).find(|(known, _)| *known == wanted);
    inside(name).or_else(|| inside("*")).map(|(_, section)| section)
}

/// Returns the sections directly inside that of `path`, with the last component of their paths.
pub fn sections_inside(path: &str) -> impl Iterator<Item = (&'static str, &'static Section)> {
    let start = if path.is_empty() { String::new() } else { format!("{path}.") };
    SECTIONS.iter().filter(|section| !section.path.is_empty()).filter_map(move |section| {
        let name = section.path.strip_prefix(start.as_str())?;
        (!name.contains('.')).then_some((name, section))
    })
}
