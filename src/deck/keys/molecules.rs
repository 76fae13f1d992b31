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
                "epsilon",
                quantity(NOT_NEGATIVE, Dimension::Energy),
                Default::Unset("that of [interaction.lennard-jones], unless another species has its own"),
                "Depth of the Lennard-Jones energy between two of its kind.",
            )
            .also(&["eps"]),
            key(
                "sigma",
                LENGTH,
                Default::Unset("that of [interaction.lennard-jones], unless another species has its own"),
                "Distance at which that energy is 0.",
            ),
            key(
                "fraction",
                number(FRACTION),
                Default::Unset("equal shares"),
                "Its share of the particles of a start that lays them out at random or on a lattice.",
            )
            .also(&["x", "share", "composition"]),
            key(
                "names",
                Kind::Texts,
                Default::Unset("the name of the section alone"),
                "Other names of it in files, such as [\"C1'\", \"OW-2\"], or the number of a type, [\"1\"].",
            )
            .also(&["aliases", "labels", "called"]),
        ],
    ),
    section("pair", "Pairs of species whose Lennard-Jones parameters are not mixed by rule, [pair.NAME.NAME].", &[]),
    section("pair.*", "Pairs of one species with others.", &[]),
    section(
        "pair.*.*",
        "A pair of unlike species, in either order: what is given here is not mixed by rule.",
        &[
            key(
                "epsilon",
                quantity(NOT_NEGATIVE, Dimension::Energy),
                Default::Unset("by the rule of mixing"),
                "Depth of the pair's Lennard-Jones energy.",
            )
            .also(&["eps"]),
            key("sigma", LENGTH, Default::Unset("by the rule of mixing"), "Distance at which that energy is 0."),
        ],
    ),
];

/// In the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
    section(
        "interaction",
        "Molecular dynamics: the interaction of pairs, [interaction.LAW]; one law, or lennard-jones with coulomb.",
        &[],
    ),
    section(
        "interaction.lennard-jones",
        "4 epsilon [(sigma/r)^12 - (sigma/r)^6] of all pairs, where the species have no epsilon and sigma of their own.",
        &[
            EPSILON,
            SIGMA,
            CUTOFF,
            key(
                "mixing",
                Kind::Choice(Mixing::NAMES),
                Default::Value("\"lorentz-berthelot\""),
                "Unlike species: sigma the arithmetic mean and epsilon the geometric one, or both geometric.",
            )
            .also(&["combination", "combining_rule", "comb_rule"]),
            key(
                "truncation",
                Kind::Choice(Truncation::NAMES),
                Default::Value("\"plain\""),
                "At the cutoff: plain, shifted to zero energy, with the force switched off from switch_start on, or cut and \
                 shifted at the minimum 2^(1/6) sigma, which then is the cutoff.",
            )
            .also(&["shift", "modifier"]),
            key(
                "switch_start",
                LENGTH,
                Default::Unset("required by truncation = \"switched\""),
                "Distance from which the force is switched off.",
            )
            .also(&["r_switch", "rvdw_switch"]),
            key(
                "tail",
                Kind::Flag,
                Default::Value("false"),
                "Whether energy and pressure are corrected for what an even density beyond a plain cutoff adds.",
            )
            .also(&["tail_correction", "dispcorr", "dispersion_correction", "long_range"]),
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
    section(
        "interaction.coulomb",
        "q q / r of the species' charges, by the constant of the units, within a cutoff; alone or with lennard-jones.",
        &[
            key("cutoff", LENGTH, Default::Unset("that of lennard-jones"), "Distance beyond which no pair acts.").also(&[
                "rc", "r_c", "r_cut", "rcoulomb", "radius",
            ]),
            key(
                "truncation",
                Kind::Choice(CoulombTruncation::NAMES),
                Default::Value("\"reaction-field\""),
                "At the cutoff: plain, shifted to zero energy, or with a medium beyond it that answers.",
            )
            .also(&["shift", "modifier", "coulombtype"]),
            key(
                "permittivity",
                Kind::Number(Interval { lower: 1.0, lower_allowed: true, upper_allowed: true, ..ANY }, Dimension::Code),
                Default::Unset("infinite: a conductor"),
                "Relative permittivity of the medium of a reaction field.",
            )
            .also(&["epsilon_rf", "dielectric", "epsilon"]),
        ],
    ),
];
