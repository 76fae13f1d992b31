//! Keys of `[sph]`, `[sph.viscosity]` and `[gravity]`.

use super::*;

/// Fewest `neighbors` of `[sph]`.
pub(crate) const MIN_NEIGHBORS: f64 = 10.0;

/// Sections in the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
    section(
        "sph",
        "Hydrodynamics; without this section there is none.",
        &[
            key(
                "formulation",
                Kind::Choice(Formulation::NAMES),
                Default::Value("\"volume-elements\""),
                "SPH equations: standard (density sum with grad-h terms), or generalized volume elements.",
            ),
            key(
                "volume_estimate",
                Kind::Choice(VolumeEstimate::NAMES),
                Default::Value("\"energy\""),
                "First estimate of a particle's volume: by its thermal energy where the pressure is uniform and \
                 by the number density elsewhere, or mass over density; only for volume elements.",
            ),
            key(
                "volume_iterations",
                Kind::Integer(between(0.0, 20.0)),
                Default::Value("0"),
                "Iterations X = X / k of the volume elements in every step, which bring k = sum of X W to 1 \
                 at jumps of density; only for volume elements.",
            ),
            key(
                "gradients",
                Kind::Choice(Gradients::NAMES),
                Default::Value("\"integral\""),
                "Gradients in the momentum and energy equations: integral approach, or gradient of the \
                 kernel.",
            ),
            key(
                "kernel",
                Kind::Choice(Kernel::NAMES),
                Default::Value("\"wendland-c6\""),
                "Interpolation kernel; its support radius is 2h.",
            ),
            key(
                "neighbors",
                number(between(MIN_NEIGHBORS, 1000.0)),
                Default::Value("190.0"),
                "Target number of neighbors within 2h, the particle itself included.",
            )
            .also(&["ng0", "neighbours", "neighbor_count"]),
            key(
                "neighbor_tolerance",
                number(BELOW_ONE),
                Default::Value("1e-4"),
                "Largest relative deviation from the target number.",
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
                Default::Value("1.0"),
                "Coefficient of artificial thermal conductivity; 0 turns it off.",
            ),
            key(
                "conductivity_switch",
                Kind::Flag,
                Default::Value("true"),
                "Whether the conductivity follows the switch of the viscosity: conductivity where alpha is \
                 alpha_max, less elsewhere.",
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
                "Smallest coefficient alpha, far from shocks.",
            ),
            key(
                "alpha_max",
                number(NOT_NEGATIVE),
                Default::Value("1.0"),
                "Largest coefficient alpha, in shocks.",
            )
            .also(&["alpha"]),
            key(
                "beta",
                number(NOT_NEGATIVE),
                Default::Value("2.0"),
                "Coefficient of the quadratic term in the signal velocity.",
            ),
            key(
                "switch",
                Kind::Flag,
                Default::Value("true"),
                "Whether a switch varies alpha per particle between alpha_min and alpha_max.",
            ),
            key(
                "limiter",
                Kind::Flag,
                Default::Value("true"),
                "Whether Balsara's factor suppresses the viscosity in shear flows.",
            )
            .also(&["balsara"]),
        ],
    ),
    section(
        "gravity",
        "Self-gravity by a tree code; without this section there is none.",
        &[
            key("constant", number(POSITIVE), Default::Value("1.0"), "The gravitational constant.")
                .also(&["g"]),
            key(
                "criterion",
                Kind::Choice(OpeningCriterion::NAMES),
                Default::Value("\"geometric\""),
                "When a tree node is opened: by size over distance (opening_angle), or by expected relative \
                 force error (force_error).",
            ),
            key(
                "opening_angle",
                number(between(0.0, 1.5)),
                Default::Value("0.5"),
                "Opening angle theta, the largest node size over distance; 0 is direct summation.",
            )
            .also(&["theta", "angle"]),
            key(
                "order",
                Kind::Choice(MultipoleOrder::NAMES),
                Default::Value("\"quadrupole\""),
                "Order of the multipole expansion of a node; octupoles are cheaper for force errors below \
                 1e-4.",
            )
            .also(&["expansion", "multipole_order"]),
            key(
                "force_error",
                number(BELOW_ONE),
                Default::Value("5e-4"),
                "Allowed force error of the relative criterion, as a fraction of the last acceleration.",
            ),
            key(
                "softening",
                quantity(NOT_NEGATIVE, Dimension::Length),
                Default::Value("0.005"),
                "Softening length epsilon.",
            )
            .also(&["eps", "epsilon", "softening_length"]),
            key(
                "softening_kernel",
                Kind::Choice(SofteningKernel::NAMES),
                Default::Value("\"plummer\""),
                "Softened potential of a point mass: Plummer, or a cubic spline that is Newtonian beyond \
                 2.8 epsilon.",
            ),
            key(
                "mesh",
                Kind::Integers(between(8.0, 4096.0)),
                Default::Unset("about four points per particle, at least 16 per dimension"),
                "Mesh points per dimension of the long-range part in a periodic box.",
            )
            .also(&["pmgrid", "grid"]),
            key(
                "split",
                number(between(0.6, 4.0)),
                Default::Unset("1"),
                "Length in mesh spacings at which the tree's short-range part and the mesh's long-range part of a \
                 periodic box meet; more is more accurate and slower.",
            )
            .also(&["asmth"]),
        ],
    ),
    section(
        "external",
        "External accelerations: a uniform field, a fixed point mass, or both.",
        &[key(
            "uniform",
            Kind::Numbers(ANY, Dimension::Acceleration),
            Default::Value("0.0"),
            "Acceleration of all particles, [ax, ay, az]; 0 along periodic dimensions.",
        )
        .also(&["acceleration", "constant", "g"])],
    ),
    section(
        "external.point_mass",
        "A point mass that does not move: potential -G M / sqrt(r^2 + softening^2).",
        &[
            key("mass", quantity(POSITIVE, Dimension::Mass), Default::Required, "The mass M.").also(&["m"]),
            key(
                "constant",
                number(POSITIVE),
                Default::Unset("that of [gravity], else 1"),
                "The gravitational constant G without [gravity].",
            )
            .also(&["g"]),
            key(
                "position",
                Kind::Numbers(ANY, Dimension::Length),
                Default::Value("0.0"),
                "Position of the mass.",
            )
            .also(&["center", "x"]),
            key(
                "softening",
                quantity(NOT_NEGATIVE, Dimension::Length),
                Default::Value("0.0"),
                "Softening length epsilon (Plummer).",
            )
            .also(&["eps", "epsilon", "softening_length"]),
            key(
                "distance",
                Kind::Choice(Distance::NAMES),
                Default::Value("\"spherical\""),
                "The distance r: from the point, or from the axis through it along z, for slabs that are \
                 periodic along z.",
            ),
        ],
    ),
];
