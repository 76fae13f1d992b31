//! Counts the pairs in range by brute force over a list.

use super::neighbors::Sides;
use crate::neighbors::{CLUSTER, CLUSTERS, ClusterList};
use crate::pair::law::Cutoff;
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use rayon::prelude::*;

/// Numbers of pairs of an owned particle i and another particle j, counted from both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InRange {
    /// r < radius of i.
    pub own: u64,
    /// r < the larger radius of the two.
    pub either: u64,
}

impl InRange {
    /// Counts the pairs of a full list that was built with radii at least as large as `radius`.
    pub fn count(bx: &SimulationBox, particles: &Particles, radius: &[f64], list: &ClusterList) -> Self {
        assert!(!list.symmetric(), "pairs are counted from both sides");
        let of_super_cluster = |super_cluster: usize| {
            let mut entries = Vec::new();
            list.decode(super_cluster, &mut entries);
            let mut found = InRange::default();
            for entry in &entries {
                let rows = |cluster: usize| {
                    (cluster * CLUSTER..particles.len().min((cluster + 1) * CLUSTER))
                        .filter(|&row| !particles.ghost(row))
                };
                for member in (0..CLUSTERS).filter(|member| entry.mask >> member & 1 == 1) {
                    let own = rows(CLUSTERS * super_cluster + member);
                    for i in own.filter(|row| particles.owned().contains(row)) {
                        let here = particles.vector_at(Field::Position, i);
                        for j in rows(entry.cluster as usize).filter(|&j| j != i) {
                            let there = particles.vector_at(Field::Position, j);
                            let square = bx.shortest(here - there).norm_squared();
                            found.own += u64::from(square < radius[i].powi(2));
                            found.either += u64::from(square < radius[i].max(radius[j]).powi(2));
                        }
                    }
                }
            }
            found
        };
        let sum = |a: Self, b: Self| InRange { own: a.own + b.own, either: a.either + b.either };
        list.super_clusters().into_par_iter().map(of_super_cluster).reduce(Self::default, sum)
    }

    /// Returns the number of useful evaluations of a sweep: on a half list one per pair, whichever of the two
    /// particles the law acts on.
    pub fn useful(&self, cutoff: Cutoff, sides: Sides) -> u64 {
        match (sides, cutoff) {
            (Sides::Half, _) => self.either / 2,
            (Sides::Full, Cutoff::Own) => self.own,
            (Sides::Full, Cutoff::Either | Cutoff::Common) => self.either,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample::{Distribution, Sample};
    use crate::comm::Communicator;
    use crate::neighbors::{Coding, ListRequest};

    #[test]
    fn every_pair_in_range_is_counted_once_from_each_side() {
        for distribution in [Distribution::Uniform, Distribution::Lattice, Distribution::Plummer] {
            let mut sample = Sample::new(distribution, 700, 20.0, &Communicator::solo()).unwrap();
            sample.sync().unwrap();
            let (bx, particles) = (sample.domain.bx, &sample.particles);
            let radius = Sample::radii(particles);
            let request = ListRequest::of(&bx, particles, &radius, false, Coding::Nibble);
            let found = InRange::count(&bx, particles, &radius, &ClusterList::build(&request).unwrap());
            let mut truth = InRange::default();
            for i in 0..particles.len() {
                for j in (0..particles.len()).filter(|&j| j != i) {
                    let between =
                        particles.vector_at(Field::Position, i) - particles.vector_at(Field::Position, j);
                    let distance = bx.shortest(between).norm();
                    truth.own += u64::from(distance < radius[i]);
                    truth.either += u64::from(distance < radius[i].max(radius[j]));
                }
            }
            assert_eq!(found, truth, "{distribution:?}");
            let neighbors = found.own as f64 / particles.len() as f64;
            assert!((10.0..40.0).contains(&neighbors), "{distribution:?}: {neighbors}");
        }
    }
}
