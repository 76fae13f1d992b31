//! Assigns species to the particles of a generated start.

use crate::particles::{Field, Particles};
use crate::plan::{LatticeKind, Plan, StartPlan, composition};

/// Rounds of the Feistel network; four give a pseudo-random permutation (Luby & Rackoff 1988).
const ROUNDS: u64 = 4;

/// Sets species, mass and charge of the particles of a generated start with `total` particles on all ranks.
/// Each species gets the number of particles given by its fraction, spread at random over the ids, or in
/// lattice order for rock salt. The result is independent of the number of ranks.
pub(super) fn assign(particles: &mut Particles, plan: &Plan, total: u64) {
    if plan.species.is_empty() {
        return;
    }
    let mut ends = composition(&plan.species, total);
    for k in 1..ends.len() {
        ends[k] += ends[k - 1];
    }
    let seed = seed_of(&plan.start);
    let ordered = matches!(&plan.start, StartPlan::Lattice(start) if start.kind == LatticeKind::RockSalt);
    for row in particles.owned() {
        let id = particles.id[row];
        let species = match (ends.len(), ordered) {
            (1, _) => 0,
            // The lattice cell lists the first species, then the second.
            (_, true) => (id % 8 / 4) as usize,
            (_, false) => {
                let place = permuted(id, total, seed);
                ends.partition_point(|&end| end <= place)
            }
        };
        if particles.has(Field::Species) {
            particles.scalar_mut(Field::Species)[row] = species as f64;
        }
        let kind = &plan.species[species];
        particles.scalar_mut(Field::Mass)[row] = kind.mass;
        if particles.has(Field::Charge) {
            particles.scalar_mut(Field::Charge)[row] = kind.charge;
        }
    }
}

fn seed_of(start: &StartPlan) -> u64 {
    match start {
        StartPlan::UniformBox(start) => start.seed,
        StartPlan::Lattice(start) => start.seed,
        StartPlan::Random(start) => start.seed,
        StartPlan::RadialTable(start) => start.seed,
        StartPlan::Case(case) => case.seed(),
        StartPlan::File(_) => 0,
    }
}

/// The image of `id` under a pseudo-random permutation of 0..total selected by the seed: a Feistel network on
/// the smallest even number of bits that holds the total, repeated until the value is in range (cycle
/// walking, Black & Rogaway 2002). Needs no memory and is evaluated per id.
fn permuted(id: u64, total: u64, seed: u64) -> u64 {
    let half = (u64::BITS - total.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut value = id;
    loop {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (mix(right ^ mix(seed ^ mix(round))) & mask));
        }
        value = left << half | right;
        if value < total {
            return value;
        }
    }
}

/// A bijective mixing function (the finalizer of SplitMix64: Steele, Lea & Flood 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_are_permutations() {
        for total in [1u64, 2, 3, 7, 64, 100, 1000, 4097] {
            let mut places: Vec<u64> = (0..total).map(|id| permuted(id, total, 5)).collect();
            let other = (0..total).filter(|&id| permuted(id, total, 6) != places[id as usize]).count();
            assert!(total < 64 || other > total as usize / 2, "the seed counts");
            places.sort_unstable();
            assert!(places.iter().copied().eq(0..total), "{total}");
        }
    }

    #[test]
    fn shuffles_leave_no_order() {
        // Whether the image lies in the lower half, by id: it must change as often as coin tosses do.
        let total = 10_000;
        let side: Vec<bool> = (0..total).map(|id| permuted(id, total, 1) < total / 2).collect();
        let changes = side.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
        assert!((changes - 5000.0).abs() < 4.0 * 50.0, "{changes}");
    }
}
