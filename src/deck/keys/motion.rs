//! The sections of the motion of molecules.

use super::*;

const TEMPERATURE: Key = key(
    "temperature",
    quantity(POSITIVE, Dimension::Temperature),
    Default::Required,
    "Temperature of the heat bath.",
)
.also(&["t", "temp", "t_ref", "ref_t"]);

const SEED: Key =
    key("seed", Kind::Integer(between(0.0, EXACT)), Default::Value("1"), "Seed of the random numbers.")
        .also(&["ld_seed", "gen_seed"]);

/// In the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
    section("thermostat", "Constant temperature of molecules: at most one, [thermostat.NAME].", &[]),
    section(
        "thermostat.langevin",
        "Friction and noise on every particle (splitting BAOAB).",
        &[
            TEMPERATURE,
            key(
                "friction",
                quantity(POSITIVE, Dimension::Rate),
                Default::Required,
                "Rate at which velocities are forgotten, per time.",
            )
            .also(&["gamma", "damping", "damp", "tau_t"]),
            SEED,
        ],
    ),
    section(
        "thermostat.velocity-rescaling",
        "All velocities scaled by a random factor, so that the kinetic energy is canonical.",
        &[
            TEMPERATURE,
            key(
                "time_constant",
                TIME,
                Default::Required,
                "Time in which the kinetic energy forgets a deviation.",
            )
            .also(&["tau", "tau_t", "relaxation_time"]),
            SEED,
        ],
    ),
    section("motion", "What else is done with the velocities of molecules.", &[]),
    section(
        "motion.remove_drift",
        "The center of mass is brought to rest again (never by default):",
        &[key("every_steps", STEPS, Default::Required, "Interval in steps.").also(&["steps", "nstcomm"])],
    ),
    section(
        "minimize",
        "Search for a minimum of the energy before the first step; without this section there is none.",
        &[
            key(
                "largest_force",
                quantity(POSITIVE, Dimension::Force),
                Default::Required,
                "The search ends when no particle's force is larger.",
            )
            .also(&["tolerance", "emtol", "ftol", "force"]),
            key("most_steps", STEPS, Default::Value("10000"), "Or after so many steps.").also(&[
                "steps",
                "max_steps",
                "nsteps",
                "maxiter",
            ]),
            key(
                "largest_displacement",
                quantity(POSITIVE, Dimension::Length),
                Default::Unset("a 25th of the cutoff"),
                "Farthest that a particle is moved in a step.",
            )
            .also(&["dmax", "emstep"]),
        ],
    ),
];
