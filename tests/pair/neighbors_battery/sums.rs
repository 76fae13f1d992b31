//! Sums over lists: the number density of domains over ranks against the O(N^2) sum.

use super::{Case, Kind, RANKS, cases, kinds_across, listed};
use hilbrium::comm::run_local;
use hilbrium::domain::{Domain, DomainSettings, PairSharing};
use hilbrium::laws::number_density;
use hilbrium::neighbors::{Coding, ListRequest, Radii};
use hilbrium::pair::{Kernel, Pass, Precision, Sweep, naive};
use hilbrium::particles::{Field, Particles};

const FIELDS: &[Field] =
    &[Field::Position, Field::SmoothingLength, Field::Work, Field::NumberDensity, Field::NumberDensitySlope];

/// Particles of the case with these numbers, which are their ids; the radius is 2 h.
fn some(case: &Case, numbers: &[usize]) -> Particles {
    let mut particles = Particles::new(FIELDS, numbers.len());
    for (row, &k) in numbers.iter().enumerate() {
        particles.id[row] = k as u64;
        particles.set_vector(Field::Position, row, case.position[k]);
        particles.scalar_mut(Field::SmoothingLength)[row] = 0.5 * case.radius[k];
        particles.scalar_mut(Field::Work)[row] = 1.0;
    }
    particles
}

fn radius(particles: &Particles) -> Vec<f64> {
    particles.scalar(Field::SmoothingLength).iter().map(|h| 2.0 * h).collect()
}

fn law() -> number_density::Law<f64> {
    number_density::Law { kernel: Kernel::cubic_spline() }
}

/// Id, number density and slope of a rank's owned particles, by list kind and precision.
type Sums = Vec<Vec<(u64, f64, f64)>>;

fn settings(across: PairSharing) -> impl Iterator<Item = (Kind, bool, Precision)> {
    kinds_across(across).into_iter().flat_map(|(kind, symmetric)| {
        [Precision::Mixed, Precision::Double].map(|precision| (kind, symmetric, precision))
    })
}

fn synced(case: &Case, ranks: usize, across: PairSharing) -> Vec<Sums> {
    run_local(ranks, |comm| {
        let mine: Vec<usize> = (0..case.position.len()).filter(|k| k / 5 % ranks == comm.rank()).collect();
        let mut particles = some(case, &mine);
        let coarse = DomainSettings { bucket_size: 8, coarse_leaves_per_rank: 20, across };
        let mut domain = Domain::new(comm.clone(), case.bx, coarse);
        domain.sync(&mut particles, radius).unwrap();
        let radius = radius(&particles);
        let sums = |(kind, symmetric, precision): (Kind, bool, Precision)| {
            let first_with_lower_halos = domain.first_with_lower_halos(&particles);
            let all = ListRequest::of(&domain.bx, &particles, &radius, symmetric, Coding::Plain);
            let list = listed(kind, &ListRequest { first_with_lower_halos, ..all });
            let mut particles = particles.clone();
            let pass = Pass { bx: &domain.bx, radius: Radii::Each(&radius), precision, active: None };
            let mut sweep = Sweep::new(&pass, &list);
            if list.shares_pairs() {
                sweep = sweep.returning_reactions(&domain);
            }
            sweep.run(&law(), &mut particles);
            let (density, slope) =
                (particles.scalar(Field::NumberDensity), particles.scalar(Field::NumberDensitySlope));
            particles.owned().map(|row| (particles.id[row], density[row], slope[row])).collect()
        };
        settings(across).map(sums).collect()
    })
}

#[test]
fn number_densities_are_those_of_naive() {
    for case in cases::all() {
        let all: Vec<usize> = (0..case.position.len()).collect();
        let mut truth = some(&case, &all);
        let radius = radius(&truth);
        naive(&law(), &case.bx, &radius, &mut truth);
        let (density, slope) = (truth.scalar(Field::NumberDensity), truth.scalar(Field::NumberDensitySlope));
        for (ranks, across) in
            RANKS.into_iter().flat_map(|n| [PairSharing::BothRanks, PairSharing::OneRank].map(|a| (n, a)))
        {
            let found = synced(&case, ranks, across);
            for (k, (kind, symmetric, precision)) in settings(across).enumerate() {
                // A super-cluster that spans both clumps is 5000 radii wide: single-precision offsets resolve
                // 1e-4 of a radius there.
                let wide = case.name.starts_with("two clumps");
                let tolerance = match precision {
                    Precision::Double => 1e-11,
                    Precision::Mixed if wide => 5e-4,
                    Precision::Mixed => 2e-5,
                };
                let rows: Vec<_> = found.iter().flat_map(|sums| sums[k].clone()).collect();
                assert_eq!(rows.len(), all.len());
                for (id, n, m) in rows {
                    let (n0, m0) = (density[id as usize], slope[id as usize]);
                    // Slopes are sums of both signs: measured by the density, whose terms are as large.
                    assert!(
                        (n - n0).abs() <= tolerance * n0
                            && (m - m0).abs() <= 10.0 * tolerance * (n0 + m0.abs()),
                        "{}; {kind:?}, symmetric {symmetric}, {precision:?}, {ranks} ranks, {across:?}, particle {id}: \
                         {n} and {m} instead of {n0} and {m0}",
                        case.name
                    );
                }
            }
        }
    }
}
