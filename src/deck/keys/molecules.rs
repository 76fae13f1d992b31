//! The sections of molecular dynamics.

use super::*;

const EPSILON: Key =
    key("epsilon", number(POSITIVE), Default::Value("1.0"), "Depth of the energy's minimum.").also(&["eps"]);

const SIGMA: Key =
    key("sigma", number(POSITIVE), Default::Value("1.0"), "Distance at which the energy is 0.");

const CUTOFF: Key =
    key("cutoff", number(POSITIVE), Default::Value("2.5"), "Distance beyond which no pair acts.")
        .also(&["rc", "r_c", "r_cut", "radius"]);

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
];
