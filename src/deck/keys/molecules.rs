//! The sections of molecular dynamics.

use super::*;

const LENGTH: Kind = quantity(POSITIVE, Dimension::Length);

const EPSILON: Key = key(
    "epsilon",
    quantity(POSITIVE, Dimension::Energy),
    Default::Value("1.0"),
    "Depth of the energy's minimum.",
)
.also(&["eps"]);

const SIGMA: Key = key("sigma", LENGTH, Default::Value("1.0"), "Distance at which the energy is 0.");

const CUTOFF: Key = key("cutoff", LENGTH, Default::Value("2.5"), "Distance beyond which no pair acts.")
    .also(&["rc", "r_c", "r_cut", "radius"]);

/// What the particles are and what is measured in: printed before the start.
pub(super) const MATTER: &[Section] = &[
    section(
        "units",
        "What the numbers of the deck mean, and all that is written.",
        &[key(
            "system",
            Kind::Choice(UnitSystem::NAMES),
            Default::Value("\"reduced\""),
            "reduced: the constants of nature are 1; molecular: nm, ps, amu, kJ/mol, e, K, and texts such as \"2 fs\".",
        )
        .also(&["units", "style"])],
    ),
    section("species", "Kinds of molecules, [species.NAME]; without them there is one kind, which has no name.", &[]),
    section(
        "species.*",
        "A kind of molecules, under a name of your choice.",
        &[
            key("mass", quantity(POSITIVE, Dimension::Mass), Default::Required, "Mass of a particle.")
                .also(&["m", "weight"]),
            key("charge", quantity(ANY, Dimension::Charge), Default::Value("0.0"), "Charge of a particle.")
                .also(&["q"]),
            key(
                "fraction",
                number(FRACTION),
                Default::Unset("equal shares"),
                "Its share of the particles of a start that lays them out at random or on a lattice.",
            )
            .also(&["x", "share", "composition"]),
        ],
    ),
];

/// In the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
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
                LENGTH,
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
            key("strength", quantity(ANY, Dimension::EnergyLength), Default::Value("1.0"), "Energy times length; negative attracts.")
                .also(&["a"]),
            key(
                "screening",
                quantity(NOT_NEGATIVE, Dimension::InverseLength),
                Default::Value("1.0"),
                "Inverse of the screening length.",
            )
            .also(&["kappa"]),
            CUTOFF,
        ],
    ),
];
