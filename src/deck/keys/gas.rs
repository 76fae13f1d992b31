//! The sections of gas and self-gravity.

use super::*;

/// Fewest `neighbors` of `[sph]`.
pub(crate) const FEWEST_NEIGHBORS: f64 = 10.0;

/// In the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
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
                "gradients",
                Kind::Choice(Gradients::NAMES),
                Default::Value("\"integral\""),
                "Of the momentum and energy equations: the integral approach, or the gradient of the kernel.",
            ),
            key(
                "kernel",
                Kind::Choice(Kernel::NAMES),
                Default::Value("\"wendland-c6\""),
                "The interpolation kernel; its support is 2h.",
            ),
            key(
                "neighbors",
                number(between(FEWEST_NEIGHBORS, 1000.0)),
                Default::Value("190.0"),
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
                "order",
                Kind::Choice(MultipoleOrder::NAMES),
                Default::Value("\"quadrupole\""),
                "How far a node is expanded; octupoles are cheaper for forces better than 1e-4.",
            )
            .also(&["expansion", "multipole_order"]),
            key(
                "force_error",
                number(BELOW_ONE),
                Default::Value("5e-4"),
                "Allowed error of the relative criterion.",
            ),
            key(
                "softening",
                quantity(NOT_NEGATIVE, Dimension::Length),
                Default::Value("0.005"),
                "Softening length.",
            )
            .also(&["eps", "epsilon", "softening_length"]),
            key(
                "softening_kernel",
                Kind::Choice(SofteningKernel::NAMES),
                Default::Value("\"plummer\""),
                "The softened potential of a point mass.",
            ),
        ],
    ),
];
