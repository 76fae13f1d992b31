//! The table of every section and key of a deck: the one source of what is allowed, what it means and what holds
//! when it is left out. Reading, defaults, suggestions, the JSON Schema and the commented decks all come from it.

pub use super::kind::{Default, Interval, Key, Kind, Section, quoted};
use super::plan::{
    Arrangement, Coding, Device, Formulation, Kernel, LatticeKind, ListKind, OpeningCriterion, Precision,
    SofteningKernel, Truncation, Velocities,
};
use crate::units::Dimension;

const fn key(name: &'static str, kind: Kind, default: Default, meaning: &'static str) -> Key {
    Key { name, kind, default, meaning, synonyms: &[] }
}

const fn section(path: &'static str, meaning: &'static str, keys: &'static [Key]) -> Section {
    Section { path, meaning, one_of: false, keys }
}

const ANY: Interval =
    Interval { lower: f64::NEG_INFINITY, lower_allowed: false, upper: f64::INFINITY, upper_allowed: false };
const POSITIVE: Interval = Interval { lower: 0.0, ..ANY };
const NOT_NEGATIVE: Interval = Interval { lower_allowed: true, ..POSITIVE };
const FRACTION: Interval = Interval { upper: 1.0, upper_allowed: true, ..POSITIVE };
const BELOW_ONE: Interval = Interval { upper: 1.0, ..POSITIVE };
const ABOVE_ONE: Interval = Interval { lower: 1.0, ..ANY };

const fn between(lower: f64, upper: f64) -> Interval {
    Interval { lower, lower_allowed: true, upper, upper_allowed: true }
}

const fn number(interval: Interval) -> Kind {
    Kind::Number(interval, Dimension::Code)
}

/// More particles than any machine holds: beyond it a number is a slip.
pub const MOST_PARTICLES: f64 = 1e12;
const COUNT: Kind = Kind::Integer(between(1.0, MOST_PARTICLES));
/// Integers beyond 2^53 do not survive in every JSON and TOML tool.
const EXACT: f64 = 9007199254740992.0;
const STEPS: Kind = Kind::Integer(between(1.0, EXACT));

const PARTICLES: Key =
    key("particles", COUNT, Default::Required, "Number of particles; the layout may round it.").also(&[
        "n",
        "count",
        "npart",
        "number",
        "num_particles",
    ]);
const SEED: Key =
    key("seed", Kind::Integer(between(0.0, EXACT)), Default::Value("1"), "Seed of the random numbers.");
const ARRANGEMENT: Key = key(
    "arrangement",
    Kind::Choice(Arrangement::NAMES),
    Default::Value("\"glass\""),
    "Layout before it is stretched to the profile: a relaxed glass, a lattice, or random.",
)
.also(&["layout", "glass"]);
const LENGTHS: Key =
    key("lengths", Kind::Numbers(POSITIVE), Default::Value("1.0"), "Edge lengths of the box, from 0.")
        .also(&["size", "box", "edges", "box_size"]);
const DENSITY: Key = key("density", number(POSITIVE), Default::Value("1.0"), "Mass density.").also(&["rho"]);
const BOX_ENERGY: Key =
    key("internal_energy", number(NOT_NEGATIVE), Default::Value("1.0"), "Specific internal energy.")
        .also(&["u"]);
const MASS: Key = key("mass", number(POSITIVE), Default::Value("1.0"), "Total mass.").also(&["m"]);
const RADIUS: Key = key("radius", number(POSITIVE), Default::Value("1.0"), "Radius.").also(&["r", "scale"]);
const TEMPERATURE: Key = key(
    "temperature",
    number(NOT_NEGATIVE),
    Default::Value("0.0"),
    "Temperature of the velocities with [interaction], k_B = 1; 0 is at rest.",
)
.also(&["t", "temp"]);
const EPSILON: Key =
    key("epsilon", number(POSITIVE), Default::Value("1.0"), "Depth of the energy's minimum.").also(&["eps"]);
const SIGMA: Key =
    key("sigma", number(POSITIVE), Default::Value("1.0"), "Distance at which the energy is 0.");
const CUTOFF: Key =
    key("cutoff", number(POSITIVE), Default::Value("2.5"), "Distance beyond which no pair acts.")
        .also(&["rc", "r_c", "r_cut", "radius"]);
const EVERY_TIME: Key =
    key("every_time", number(POSITIVE), Default::Unset("not by time"), "Interval in simulated time.")
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

/// Every section, in the order in which a deck is printed. A section stands after the one around it.
pub const SECTIONS: &[Section] = &[
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
                number(NOT_NEGATIVE),
                Default::Unset("steps alone ends the run"),
                "Time at which the run ends.",
            )
            .also(&["tend", "t_end", "time", "final_time", "duration", "stop"]),
            key(
                "steps",
                Kind::Integer(between(0.0, EXACT)),
                Default::Unset("end_time alone ends the run"),
                "Steps after which the run ends; 0 evaluates the forces once, writes and ends.",
            )
            .also(&["max_steps", "nsteps", "step"]),
            key("device", Kind::Choice(Device::NAMES), Default::Value("\"auto\""), "Where the passes run.")
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
    section("start", "The initial state: exactly one case, [start.CASE].", &[]),
    section(
        "start.evrard",
        "A cold gas sphere with density M / (2 pi R^2 r), at rest.",
        &[
            PARTICLES,
            ARRANGEMENT,
            SEED,
            RADIUS,
            MASS,
            key("internal_energy", number(POSITIVE), Default::Value("0.05"), "Specific internal energy.")
                .also(&["u"]),
        ],
    ),
    section(
        "start.uniform-box",
        "A box of one density and internal energy, at rest.",
        &[PARTICLES, LENGTHS, DENSITY, BOX_ENERGY, TEMPERATURE, ARRANGEMENT, SEED],
    ),
    section(
        "start.lattice",
        "Whole cells of a crystal lattice.",
        &[
            key("kind", Kind::Choice(LatticeKind::NAMES), Default::Value("\"sc\""), "The lattice.")
                .also(&["type", "lattice"]),
            key("cells", Kind::Integers(between(1.0, 1e6)), Default::Required, "Cells per dimension.")
                .also(&["n", "particles"]),
            key(
                "spacing",
                number(POSITIVE),
                Default::Value("1.0"),
                "Edge of the cell (for hcp its shortest).",
            )
            .also(&["a", "lattice_constant"]),
            DENSITY,
            BOX_ENERGY,
            TEMPERATURE,
            key(
                "jitter",
                number(between(0.0, 0.5)),
                Default::Value("0.0"),
                "Standard deviation of random displacements, in units of the spacing.",
            )
            .also(&["noise"]),
            SEED,
        ],
    ),
    section(
        "start.random",
        "Independent uniform positions in a box.",
        &[PARTICLES, LENGTHS, DENSITY, BOX_ENERGY, TEMPERATURE, SEED],
    ),
    section(
        "start.plummer",
        "A Plummer sphere.",
        &[
            PARTICLES,
            RADIUS,
            MASS,
            key(
                "velocities",
                Kind::Choice(Velocities::NAMES),
                Default::Value("\"equilibrium\""),
                "Drawn from the isotropic equilibrium, or all zero.",
            ),
            key(
                "internal_energy",
                number(NOT_NEGATIVE),
                Default::Value("0.05"),
                "Specific internal energy (matters with [sph]).",
            )
            .also(&["u"]),
            SEED,
        ],
    ),
    section(
        "start.file",
        "Particles from a SWIFT or Gadget HDF5 file.",
        &[key("path", Kind::Path, Default::Required, "The file, relative to where the program is started.")
            .also(&["name", "filename", "file"])],
    ),
    section(
        "space",
        "The box and its boundaries.",
        &[
            key(
                "boundary",
                Kind::Choices(&["open", "periodic"]),
                Default::Value("\"open\""),
                "For all dimensions, or a list of three.",
            )
            .also(&["boundaries", "periodic", "bc"]),
            key("lower", Kind::Numbers(ANY), Default::Unset("by the start"), "Lower corner of the box.")
                .also(&["min", "box"]),
            key("upper", Kind::Numbers(ANY), Default::Unset("by the start"), "Upper corner of the box.")
                .also(&["max", "size", "lengths"]),
        ],
    ),
    section(
        "sph",
        "Hydrodynamics; without this section there is none.",
        &[
            key(
                "formulation",
                Kind::Choice(Formulation::NAMES),
                Default::Value("\"volume-elements\""),
                "Standard, or generalized volume elements.",
            ),
            key(
                "kernel",
                Kind::Choice(Kernel::NAMES),
                Default::Value("\"sinc-6\""),
                "The interpolation kernel; its support is 2h.",
            ),
            key(
                "neighbors",
                number(between(10.0, 1000.0)),
                Default::Value("100.0"),
                "Target number of neighbors within 2h.",
            )
            .also(&["ng0", "neighbours", "neighbor_count"]),
            key(
                "neighbor_tolerance",
                number(BELOW_ONE),
                Default::Value("1e-4"),
                "Largest relative deviation from that number.",
            ),
            key(
                "equation_of_state",
                Kind::Choice(&["ideal-gas", "isothermal"]),
                Default::Value("\"ideal-gas\""),
                "P = (gamma - 1) rho u, or P = sound_speed^2 rho.",
            )
            .also(&["eos"]),
            key(
                "gamma",
                number(ABOVE_ONE),
                Default::Value("\"5/3\""),
                "Adiabatic exponent of the ideal gas.",
            )
            .also(&["adiabatic_index"]),
            key(
                "sound_speed",
                number(POSITIVE),
                Default::Unset("required by the isothermal equation of state"),
                "Speed of sound of the isothermal gas.",
            )
            .also(&["c", "cs"]),
            key(
                "conductivity",
                number(NOT_NEGATIVE),
                Default::Value("0.0"),
                "Coefficient of artificial thermal conductivity; 0 turns it off.",
            ),
        ],
    ),
    section(
        "sph.viscosity",
        "Artificial viscosity.",
        &[
            key(
                "alpha_min",
                number(NOT_NEGATIVE),
                Default::Value("0.05"),
                "Smallest coefficient, far from shocks.",
            ),
            key("alpha_max", number(NOT_NEGATIVE), Default::Value("1.0"), "Largest coefficient, in shocks.")
                .also(&["alpha"]),
            key("beta", number(NOT_NEGATIVE), Default::Value("2.0"), "Coefficient of the quadratic term."),
            key(
                "switch",
                Kind::Flag,
                Default::Value("true"),
                "Whether the coefficient follows the flow per particle.",
            ),
            key("limiter", Kind::Flag, Default::Value("true"), "Whether shear suppresses the viscosity.")
                .also(&["balsara"]),
        ],
    ),
    section(
        "gravity",
        "Self-gravity by a tree; without this section there is none.",
        &[
            key("constant", number(POSITIVE), Default::Value("1.0"), "The gravitational constant.")
                .also(&["g"]),
            key(
                "criterion",
                Kind::Choice(OpeningCriterion::NAMES),
                Default::Value("\"geometric\""),
                "Nodes are opened by size over distance, or by expected relative force error.",
            ),
            key(
                "opening_angle",
                number(between(0.0, 1.5)),
                Default::Value("0.5"),
                "Opening angle; 0 is direct summation.",
            )
            .also(&["theta", "angle"]),
            key(
                "force_error",
                number(BELOW_ONE),
                Default::Value("5e-4"),
                "Allowed error of the relative criterion.",
            ),
            key("softening", number(NOT_NEGATIVE), Default::Value("0.005"), "Softening length.").also(&[
                "eps",
                "epsilon",
                "softening_length",
            ]),
            key(
                "softening_kernel",
                Kind::Choice(SofteningKernel::NAMES),
                Default::Value("\"plummer\""),
                "The softened potential of a point mass.",
            ),
        ],
    ),
    section("interaction", "Molecular dynamics: the one interaction of pairs, [interaction.LAW].", &[]),
    section(
        "interaction.lennard-jones",
        "4 epsilon [(sigma/r)^12 - (sigma/r)^6].",
        &[
            EPSILON,
            SIGMA,
            CUTOFF,
            key(
                "truncation",
                Kind::Choice(Truncation::NAMES),
                Default::Value("\"plain\""),
                "At the cutoff: plain, shifted to zero energy, or with the force switched off from switch_start on.",
            )
            .also(&["shift", "modifier"]),
            key(
                "switch_start",
                number(POSITIVE),
                Default::Unset("required by truncation = \"switched\""),
                "Distance from which the force is switched off.",
            )
            .also(&["r_switch", "rvdw_switch"]),
        ],
    ),
    section(
        "interaction.mie",
        "Lennard-Jones with other powers.",
        &[
            EPSILON,
            SIGMA,
            CUTOFF,
            key("repulsive", number(ABOVE_ONE), Default::Value("12.0"), "Power of the repulsion.")
                .also(&["n", "lambda_r"]),
            key("attractive", number(ABOVE_ONE), Default::Value("6.0"), "Power of the attraction.")
                .also(&["m", "lambda_a"]),
        ],
    ),
    section(
        "interaction.yukawa",
        "strength exp(-screening r) / r.",
        &[
            key("strength", number(ANY), Default::Value("1.0"), "Energy times length; negative attracts.")
                .also(&["a"]),
            key("screening", number(NOT_NEGATIVE), Default::Value("1.0"), "Inverse of the screening length.")
                .also(&["kappa"]),
            CUTOFF,
        ],
    ),
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
                Default::Value("0.0"),
                "Margin for reusing a list, as a fraction of each cutoff; 0 builds it every step.",
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
            key("acceleration", number(FRACTION), Default::Value("0.2"), "Factor on sqrt(h / |a|)."),
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
            key("largest", number(POSITIVE), Default::Unset("no limit"), "Largest step.")
                .also(&["max", "dt_max", "max_dt"]),
            key(
                "smallest",
                number(NOT_NEGATIVE),
                Default::Value("0.0"),
                "A run that needs a smaller step ends with an error.",
            )
            .also(&["min", "dt_min", "min_dt"]),
            key("first", number(POSITIVE), Default::Unset("by the criteria"), "First step.")
                .also(&["initial", "dt0"]),
            key(
                "fixed",
                number(POSITIVE),
                Default::Unset("by the criteria"),
                "The step itself, instead of all criteria.",
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
            "Checkpoints, beside those on signals and after a failed step: one of",
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
];

/// The section of that path.
pub fn section_at(path: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.path == path)
}

/// The sections directly inside that of `path`, by their last names.
pub fn sections_inside(path: &str) -> impl Iterator<Item = (&'static str, &'static Section)> {
    let start = if path.is_empty() { String::new() } else { format!("{path}.") };
    SECTIONS.iter().filter(|section| !section.path.is_empty()).filter_map(move |section| {
        let name = section.path.strip_prefix(start.as_str())?;
        (!name.contains('.')).then_some((name, section))
    })
}
