//! The sections of measurements.

use super::*;

const fn every(default: &'static str) -> Key {
    key("every_steps", STEPS, Default::Value(default), "Interval of the measurement in steps.")
        .also(&["every", "interval", "steps"])
}

const FROM_TIME: Key = key(
    "from_time",
    quantity(NOT_NEGATIVE, Dimension::Time),
    Default::Value("0.0"),
    "Time of the first measurement: what comes before it is left to settle.",
)
.also(&["from", "start", "start_time", "equilibration"]);

/// In the order in which a deck is printed.
pub(super) const SECTIONS: &[Section] = &[
    section("measure", "What is measured of molecules while they move, beside observables.csv.", &[]),
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
        "How far molecules travel in a time, in mean-square-displacement.csv, and how fast they diffuse, in diffusion.csv.",
        &[
            key(
                "window",
                quantity(POSITIVE, Dimension::Time),
                Default::Required,
                "Longest time over which displacements are followed.",
            )
            .also(&["longest", "lag", "length", "max_lag"]),
            key(
                "origins",
                Kind::Integer(between(1.0, 1000.0)),
                Default::Value("10"),
                "Times of reference in use at once: a new one begins every window / origins.",
            )
            .also(&["starts", "n_origins"]),
            every("10"),
            FROM_TIME,
            key(
                "fit_from",
                quantity(NOT_NEGATIVE, Dimension::Time),
                Default::Unset("a quarter of the window"),
                "Displacements over times from here to the window's end give the diffusion coefficient.",
            )
            .also(&["fit", "fit_start"]),
            key(
                "viscosity",
                number(POSITIVE),
                Default::Unset("no correction"),
                "Shear viscosity (pressure times time): corrects the diffusion coefficient for the size of a cubic box.",
            )
            .also(&["eta"]),
        ],
    ),
];
