//! The sections of molecular dynamics.

use super::*;

const LENGTH: Kind = quantity(POSITIVE, Dimension::Length);

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
    SPECIES_PARAMETERS,
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

/// The section around those of the laws.
pub(super) const INTERACTION: &[Section] = &[section(
    "interaction",
    "Molecular dynamics: the interaction of pairs, [interaction.LAW]; one law, or lennard-jones with coulomb.",
    &[],
)];
