//! Keys of `[thermostat.*]`, `[motion.*]` and `[minimize]`.

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

/// Sections in the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
    section("thermostat", "Thermostat of molecules: at most one, [thermostat.NAME].", &[]),
    section(
        "thermostat.langevin",
        "Langevin dynamics: friction and noise on every particle (BAOAB splitting).",
        &[
            TEMPERATURE,
            key(
                "friction",
                quantity(POSITIVE, Dimension::Rate),
                Default::Required,
                "Friction coefficient: damping rate of velocities, per time.",
            )
            .also(&["gamma", "damping", "damp", "tau_t"]),
            SEED,
        ],
    ),
    section(
        "thermostat.velocity-rescaling",
        "Stochastic velocity rescaling: one random factor for all velocities; canonical kinetic energy.",
        &[
            TEMPERATURE,
            key(
                "time_constant",
                TIME,
                Default::Required,
                "Relaxation time of the kinetic energy towards equilibrium.",
            )
            .also(&["tau", "tau_t", "relaxation_time"]),
            SEED,
        ],
    ),
    section("motion", "Other changes of the velocities of molecules.", &[]),
    section(
        "motion.remove_drift",
        "Removes the velocity of the center of mass (never by default):",
        &[key("every_steps", STEPS, Default::Required, "Interval in steps.").also(&["steps", "nstcomm"])],
    ),
    section(
        "minimize",
        "Energy minimization before the first step; without this section there is none.",
        &[
            key(
                "largest_force",
                quantity(POSITIVE, Dimension::Force),
                Default::Required,
                "Convergence threshold: the search ends when no particle's force is larger.",
            )
            .also(&["tolerance", "emtol", "ftol", "force"]),
            key("most_steps", STEPS, Default::Value("10000"), "Largest number of minimization steps.")
                .also(&["steps", "max_steps", "nsteps", "maxiter"]),
            key(
                "largest_displacement",
                quantity(POSITIVE, Dimension::Length),
                Default::Unset("a 25th of the cutoff"),
                "Largest displacement of a particle in a step.",
            )
            .also(&["dmax", "emstep"]),
        ],
    ),
];
