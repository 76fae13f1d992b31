//! Keys of `[measure.*]`.

use super::*;

const fn every(default: &'static str) -> Key {
    key("every_steps", STEPS, Default::Value(default), "Interval of the measurement in steps.")
        .also(&["every", "interval", "steps"])
}

const FROM_TIME: Key = key(
    "from_time",
    quantity(NOT_NEGATIVE, Dimension::Time),
    Default::Value("0.0"),
    "Time of the first measurement, after the equilibration.",
)
.also(&["from", "start", "start_time", "equilibration"]);

/// Sections in the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
    section("measure", "Measurements of molecules during the run, beside observables.csv.", &[]),
    section(
        "measure.radial-distribution",
        "The radial distribution function of each pair of species, in radial-distribution.csv.",
        &[
            key(
                "distance",
                quantity(POSITIVE, Dimension::Length),
                Default::Unset("twice the cutoff, at most half the shortest edge of the box"),
                "Largest distance, at most half the shortest edge of the box.",
            )
            .also(&["largest", "maximum", "r_max", "rmax", "cutoff", "range"]),
            key("bins", Kind::Integer(between(1.0, 100_000.0)), Default::Value("200"), "Number of bins.")
                .also(&["nbins", "resolution"]),
            every("100"),
            FROM_TIME,
        ],
    ),
    section(
        "measure.mean-square-displacement",
        "The mean square displacement of each species, in mean-square-displacement.csv, and its diffusion \
         coefficient, in diffusion.csv.",
        &[
            key(
                "window",
                quantity(POSITIVE, Dimension::Time),
                Default::Required,
                "Longest time lag of a displacement.",
            )
            .also(&["longest", "lag", "length", "max_lag"]),
            key(
                "origins",
                Kind::Integer(between(1.0, 1000.0)),
                Default::Value("10"),
                "Number of time origins in use at once: a new one starts every window / origins.",
            )
            .also(&["starts", "n_origins"]),
            every("10"),
            FROM_TIME,
            key(
                "fit_from",
                quantity(NOT_NEGATIVE, Dimension::Time),
                Default::Unset("a quarter of the window"),
                "Shortest time lag in the fit of the diffusion coefficient, which ends at the window.",
            )
            .also(&["fit", "fit_start"]),
            key(
                "viscosity",
                number(POSITIVE),
                Default::Unset("no correction"),
                "Shear viscosity (pressure times time), to correct the diffusion coefficient for the finite \
                 size of a cubic box.",
            )
            .also(&["eta"]),
        ],
    ),
];
