//! Checks of an Evrard collapse. M = R = G = 1, u = 0.05, gamma = 5/3.
//!
//! Profiles are medians in 40 logarithmic bins in 0.02 < r < 0.8 about the center of mass, of bins with at
//! least 8 particles. The reference is interpolated in log-log (velocity linearly). The gates at t = 0.77 to
//! 0.80 are SPH-EXA's figures at its 65,465 particles times (65,465 / N)^(1/3), those at other times 1.25
//! times this program's own figures.

use super::pictures;
use super::reference::{LAST_TIME, Reference, initial_entropy, own_gates, sph_exa, sph_exa_knows};
use crate::cases::tools::radial::{Radial, mean, median};
use crate::cases::{Check, Findings, History, Subject};

const GAMMA: f64 = 5.0 / 3.0;
/// Number and range of the bins.
pub(super) const BINS: usize = 40;
pub(super) const RANGE: (f64, f64) = (0.02, 0.8);
/// Radii at which the entropy is compared with the exact one.
const ENTROPY_RANGE: (f64, f64) = (0.2, 0.7);
/// Target, as a fraction of SPH-EXA's figures.
const AIM_FRACTION: f64 = 0.7;
/// |E| at the start.
const TOTAL_ENERGY: f64 = 0.616667;
/// Last time at which enough of the sphere is ahead of the shock to compare its entropy.
const LAST_ENTROPY_TIME: f64 = 1.0;
/// Times of the extrema of kinetic, thermal and potential energy.
const EXTREMA: [f64; 3] = [0.88, 1.07, 1.05];

/// Returns all checks and plots of a snapshot.
pub(super) fn judge(subject: &Subject) -> Findings {
    let radial = Radial::new(subject.particles, GAMMA);
    let reference = Reference::at(subject.time);
    let reference = reference.as_deref();
    let particles = radial.len() as u64;
    let mut checks = vec![Check::gated("total mass − 1", Some((radial.mass - 1.0).abs()), 1e-3, None)];
    checks.extend(profile_checks(&radial, reference, subject.time));
    checks.push(entropy_check(&radial, subject.time));
    checks.push(shock_check(&radial, reference));
    checks.extend(energy_checks(&radial, reference));
    checks.extend(history_checks(subject.history, subject.time));
    checks.push(Check::reported("net momentum / sum of m|v|", Some(radial.momentum)));
    let pictures = pictures::draw(&radial, reference, subject, particles);
    Findings { checks, pictures }
}

fn profile_checks(radial: &Radial, reference: Option<&Reference>, time: f64) -> [Check; 3] {
    let names = ["log10 density", "log10 pressure", "radial velocity"];
    let Some(reference) = reference else {
        let why = format!("the reference ends at t = {LAST_TIME}");
        return names.map(|name| Check::skipped(name, why.clone()));
    };
    let particles = radial.len() as u64;
    let (baseline, own) = (sph_exa(time, particles), own_gates(time, particles));
    let baselines = [baseline.density, baseline.pressure, baseline.velocity];
    let columns = [&radial.density, &radial.pressure, &radial.velocity];
    let deviations: [&dyn Fn(f64, f64) -> f64; 3] = [
        &|radius, density| (density / reference.density(radius)).log10(),
        &|radius, pressure| (pressure / reference.pressure(radius)).log10(),
        &|radius, velocity| velocity - reference.velocity(radius),
    ];
    std::array::from_fn(|k| {
        let bins = radial.medians(columns[k], BINS, RANGE);
        let deviation = mean(bins.iter().map(|&(radius, value)| deviations[k](radius, value).abs()));
        let check = if sph_exa_knows(time) {
            Check::against(names[k], deviation, baselines[k], AIM_FRACTION * baselines[k])
        } else {
            Check::gated(names[k], deviation, own[k], None)
        };
        check.noting(format!("mean of |deviation|, {} bins", bins.len()))
    })
}

/// Checks the entropy ahead of the shock, where each shell still has its initial entropy; needs no table.
fn entropy_check(radial: &Radial, time: f64) -> Check {
    let name = "entropy ahead of the shock";
    if time > LAST_ENTROPY_TIME {
        return Check::skipped(name, format!("little is ahead of the shock after t = {LAST_ENTROPY_TIME}"));
    }
    let mut inner = ENTROPY_RANGE.0;
    if time > 0.81 {
        // the shock is near; three smoothing lengths keep clear of its numerical width
        inner = radial.shock(RANGE).map_or(inner, |(radius, h)| inner.max(radius + 3.0 * h));
    }
    if inner > 0.9 * ENTROPY_RANGE.1 {
        return Check::skipped(name, "the shock has passed");
    }
    let rows = radial.between(inner, ENTROPY_RANGE.1);
    let deviations =
        rows.map(|row| (radial.entropy[row] / initial_entropy(radial.enclosed[row]) - 1.0).abs());
    let gate = sph_exa(time, radial.len() as u64).entropy;
    Check::against(name, median(deviations.collect()), gate, 0.02)
        .noting(format!("median |K/K0 − 1|, {inner:.2} < r < {}", ENTROPY_RANGE.1))
}

fn shock_check(radial: &Radial, reference: Option<&Reference>) -> Check {
    let name = "shock radius / h";
    let Some(expected) = reference.and_then(Reference::shock) else {
        return Check::skipped(name, "no shock between r = 0.03 and 0.6 that is the only one");
    };
    let found = radial.shock((0.03, 0.6));
    let check = Check::gated(name, found.map(|(radius, h)| (radius - expected).abs() / h), 1.5, None);
    match found {
        Some((radius, h)) => check.noting(format!("at {radius:.4}, reference {expected:.4}, h {h:.4}")),
        None => check,
    }
}

/// Compares kinetic and thermal energy with the reference. Their peak values converge slowly from below in
/// three dimensions, so they are only reported, to be judged over several particle numbers;
/// [`history_checks`] judges the times of the peaks.
fn energy_checks(radial: &Radial, reference: Option<&Reference>) -> [Check; 2] {
    let names = ["kinetic energy / |E|", "thermal energy / |E|"];
    let measured = [radial.kinetic, radial.thermal];
    std::array::from_fn(|k| {
        let Some(reference) = reference else {
            return Check::skipped(names[k], format!("the reference ends at t = {LAST_TIME}"));
        };
        let expected = reference.energies()[k];
        let deviation = Some((measured[k] - expected).abs() / TOTAL_ENERGY);
        Check::reported(names[k], deviation).noting(format!("{:.4}, reference {expected:.4}", measured[k]))
    })
}

/// Checks conservation and the times of the extrema, from the run's record of observables.
fn history_checks(history: Option<&History>, time: f64) -> Vec<Check> {
    let (drift, gate, aim) = ("energy drift", 0.01, Some(0.002));
    let names = ["time of kinetic maximum", "time of thermal maximum", "time of potential minimum"];
    let Some(history) = history else {
        let why = "no observables.csv beside the snapshot";
        return [drift].iter().chain(&names).map(|name| Check::skipped(name, why)).collect();
    };
    let end = history.time.last().copied().unwrap_or(0.0);
    // the last row may lie up to one interval before the snapshot
    let reaches = !history.time.is_empty() && end >= time - 0.02;
    let mut checks = vec![if reaches {
        // a margin for rounding in the comparison of times
        Check::gated(drift, history.drift(time + 1e-9), gate, aim)
            .noting(format!("largest up to t = {:.4}", end.min(time)))
    } else {
        Check::skipped(drift, format!("observables.csv ends at t = {end:.4}"))
    }];
    let columns = [(&history.kinetic, 1.0), (&history.thermal, 1.0), (&history.potential, -1.0)];
    for (k, (values, sign)) in columns.into_iter().enumerate() {
        checks.push(if end < EXTREMA[k] + 0.05 {
            Check::skipped(
                names[k],
                format!("expected at {}, observables.csv ends at t = {end:.4}", EXTREMA[k]),
            )
        } else {
            let found = history.extremum(values, sign, 0.03);
            let check = Check::gated(names[k], found.map(|(at, _)| (at - EXTREMA[k]).abs()), 0.02, None);
            match found {
                Some((at, value)) => check.noting(format!("{value:.4} at {at:.4}, reference {}", EXTREMA[k])),
                None => check,
            }
        });
    }
    checks
}
