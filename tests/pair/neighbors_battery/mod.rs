//! The pair battery: every list kind, half and full, in every boundary, distribution, kind of radii and number of
//! ranks finds exactly the pairs of the O(N^2) search, each as often as it should.

mod cases;
mod sums;

use cases::{Case, Share};
use hilbrium::comm::run_local;
use hilbrium::domain::{Domain, DomainSettings, PairSharing};
use hilbrium::neighbors::{CellList, ClusterList, Coding, Entry, ListRequest, NeighborList, ParticleList};
use hilbrium::pair::find_tiles;
use hilbrium::particles::{Field, Particles};
use hilbrium::space::Boundary;
use std::ops::Range;

const RANKS: [usize; 4] = [1, 2, 3, 5];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Clustered(Coding),
    PerParticle,
    /// Pairs from both sides alone.
    Cells,
    /// Pairs once alone.
    Tiled,
}

const KINDS: [Kind; 6] = [
    Kind::Clustered(Coding::Nibble),
    Kind::Clustered(Coding::Plain),
    Kind::Clustered(Coding::Band),
    Kind::PerParticle,
    Kind::Cells,
    Kind::Tiled,
];

fn request<'a>(case: &'a Case, share: &'a Share, symmetric: bool, coding: Coding) -> ListRequest<'a> {
    ListRequest {
        bx: &case.bx,
        position: [&share.position[0], &share.position[1], &share.position[2]],
        radius: &share.radius,
        id: &share.id,
        keys: &share.keys,
        owned: share.owned.clone(),
        symmetric,
        first_with_lower_halos: None,
        coding,
    }
}

/// The list of a kind for a request.
fn listed(kind: Kind, request: &ListRequest) -> NeighborList {
    match kind {
        Kind::Clustered(coding) => {
            let request = ListRequest { coding, ..request.clone() };
            NeighborList::Clustered(ClusterList::build(&request).unwrap())
        }
        Kind::PerParticle => NeighborList::PerParticle(ParticleList::build(request).unwrap()),
        Kind::Cells => NeighborList::Cells(CellList::build(request).unwrap()),
        Kind::Tiled => {
            let clusters = ClusterList::build(request).unwrap();
            // in the memory of tiles of other pairs
            let half: Vec<f64> = request.radius.iter().map(|radius| 0.5 * radius).collect();
            let others = ListRequest { radius: &half, ..request.clone() };
            let spent = find_tiles(&clusters, &others, None).unwrap();
            NeighborList::Tiled(find_tiles(&clusters, request, Some(spent)).unwrap())
        }
    }
}

fn build(kind: Kind, case: &Case, share: &Share, symmetric: bool) -> NeighborList {
    listed(kind, &request(case, share, symmetric, Coding::Plain))
}

/// The pairs of rows (owned first) that a sweep over the list visits and that `reaches` accepts.
fn visited(
    list: &NeighborList,
    id: &[u64],
    owned: &Range<usize>,
    reaches: &dyn Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut visit = |i: usize, j: usize| {
        if j < id.len() && owned.contains(&i) && id[i] != u64::MAX && id[j] != u64::MAX && reaches(i, j) {
            pairs.push((i, j));
        }
    };
    match list {
        NeighborList::Tiled(list) => list.pairs(visit),
        NeighborList::PerParticle(list) => {
            for i in owned.clone() {
                list.neighbors(i).iter().for_each(|&j| visit(i, j as usize));
            }
        }
        NeighborList::Cells(list) => {
            for i in owned.clone() {
                list.candidates(i).into_iter().for_each(|j| visit(i, j as usize));
            }
        }
        NeighborList::Clustered(list) => {
            let mut entries = Vec::new();
            for super_cluster in list.super_clusters() {
                list.decode(super_cluster, &mut entries);
                assert!(entries.windows(2).all(|two| two[0].cluster < two[1].cluster), "entries are sorted");
                let barren = |entry: &&Entry| {
                    let rows =
                        (64 * super_cluster..64 * super_cluster + 64).filter(|row| owned.contains(row));
                    let others = 8 * entry.cluster as usize..id.len().min(8 * entry.cluster as usize + 8);
                    !rows.into_iter().any(|i| {
                        others
                            .clone()
                            .any(|j| i != j && id[i] != u64::MAX && id[j] != u64::MAX && reaches(i, j))
                    })
                };
                // pairs at the very reach are listed for what rounding may do to them
                let barren = entries.iter().filter(barren).count();
                assert!(
                    50 * barren <= entries.len() + 50,
                    "{barren} of {} entries without a pair",
                    entries.len()
                );
                for (entry, k) in entries.iter().flat_map(|entry| (0..8).map(move |k| (entry, k))) {
                    let (member, cluster) = (8 * super_cluster + k, entry.cluster as usize);
                    if entry.mask >> k & 1 == 0 {
                        continue;
                    }
                    for (i, j) in (0..64).map(|lane| (8 * member + lane / 8, 8 * cluster + lane % 8)) {
                        let excluded = if list.symmetric() && cluster == member { j <= i } else { j == i };
                        if !excluded {
                            visit(i, j);
                        }
                    }
                }
            }
        }
    }
    pairs
}

/// What is wrong with the pairs found by all ranks, if anything: half lists find a pair once where one rank owns
/// both, else each side finds it; full lists find it from each side.
fn compare(
    naive: &[(u64, u64)],
    found: &mut [(u64, u64)],
    symmetric: bool,
    same_rank: &dyn Fn(u64, u64) -> bool,
) -> Result<(), String> {
    let mut expected = Vec::new();
    for &(i, j) in naive {
        if symmetric && same_rank(i, j) {
            expected.push((i, j));
        } else {
            expected.extend([(i, j), (j, i)]);
        }
    }
    if symmetric {
        found
            .iter_mut()
            .filter(|pair| same_rank(pair.0, pair.1) && pair.0 > pair.1)
            .for_each(|pair| *pair = (pair.1, pair.0));
    }
    expected.sort();
    found.sort();
    if let Some(twice) = found.windows(2).find(|two| two[0] == two[1]) {
        return Err(format!("pair {:?} is found twice", twice[0]));
    }
    if let Some(lost) = expected.iter().find(|pair| found.binary_search(pair).is_err()) {
        return Err(format!("pair {lost:?} is lost"));
    }
    match found.iter().find(|pair| expected.binary_search(pair).is_err()) {
        Some(extra) => Err(format!("pair {extra:?} should not be found")),
        None => Ok(()),
    }
}

/// Runs the case over ranks that hold all of each other's particles as halos.
fn check(
    case: &Case,
    naive: &[(u64, u64)],
    symmetric: bool,
    ranks: usize,
    list_of: &dyn Fn(&Share) -> NeighborList,
) -> Result<(), String> {
    let count = case.position.len();
    let owner = |particle: u64| (0..ranks).find(|rank| (particle as usize) < (rank + 1) * count / ranks);
    let mut found = Vec::new();
    for rank in 0..ranks {
        let share = case.share(rank, ranks);
        let list = list_of(&share);
        assert_eq!(list.symmetric(), symmetric);
        let reaches = |i: usize, j: usize| case.reaches(share.id[i] as usize, share.id[j] as usize);
        let pairs = visited(&list, &share.id, &share.owned, &reaches);
        found.extend(pairs.into_iter().map(|(i, j)| (share.id[i], share.id[j])));
    }
    compare(naive, &mut found, symmetric, &|i, j| owner(i) == owner(j))
}

/// Every list kind, full and half, where it is both.
fn kinds() -> impl Iterator<Item = (Kind, bool)> {
    let both = KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
    both.filter(|(kind, symmetric)| match kind {
        Kind::Tiled => *symmetric,
        Kind::Cells => !*symmetric,
        _ => true,
    })
}

#[test]
fn every_list_finds_the_pairs_of_naive() {
    let mut pairs = 0;
    for case in cases::all() {
        let naive = case.naive();
        pairs += naive.len();
        for ((kind, symmetric), ranks) in kinds().flat_map(|kind| RANKS.map(|ranks| (kind, ranks))) {
            let list_of = |share: &Share| build(kind, &case, share, symmetric);
            if let Err(wrong) = check(&case, &naive, symmetric, ranks, &list_of) {
                panic!("{}; {kind:?}, symmetric {symmetric}, {ranks} ranks: {wrong}", case.name);
            }
        }
    }
    assert!(pairs > 100_000, "the battery has pairs to find");
}

/// What a rank found: its particles, and per list kind the pairs by id.
type Found = (Vec<u64>, Vec<Vec<(u64, u64)>>);

/// The kinds of lists that can have the pairs of two ranks once.
fn kinds_across(across: PairSharing) -> Vec<(Kind, bool)> {
    let shares = |&(kind, symmetric): &(Kind, bool)| symmetric && !matches!(kind, Kind::PerParticle);
    kinds().filter(|kind| across == PairSharing::BothRanks || shares(kind)).collect()
}

/// Syncs the case over ranks, starting scattered, and lists the pairs of each kind.
fn synced(case: &Case, ranks: usize, across: PairSharing) -> Vec<Found> {
    run_local(ranks, |comm| {
        let mine: Vec<usize> = (0..case.position.len()).filter(|k| k / 5 % ranks == comm.rank()).collect();
        let mut particles =
            Particles::new(&[Field::Position, Field::SmoothingLength, Field::Work], mine.len());
        for (row, &k) in mine.iter().enumerate() {
            particles.id[row] = k as u64;
            particles.set_vector(Field::Position, row, case.position[k]);
            particles.scalar_mut(Field::SmoothingLength)[row] = case.radius[k];
            particles.scalar_mut(Field::Work)[row] = 1.0;
        }
        let settings = DomainSettings { bucket_size: 8, coarse_leaves_per_rank: 20, across };
        let mut domain = Domain::new(comm.clone(), case.bx, settings);
        domain.sync(&mut particles, |particles| particles.scalar(Field::SmoothingLength).to_vec()).unwrap();
        let radius = particles.scalar(Field::SmoothingLength).to_vec();
        let (id, owned) = (&particles.id, particles.owned());
        let pairs_of = |(kind, symmetric): (Kind, bool)| {
            let first_with_lower_halos = domain.first_with_lower_halos(&particles);
            let all = ListRequest::of(&domain.bx, &particles, &radius, symmetric, Coding::Plain);
            let list = listed(kind, &ListRequest { first_with_lower_halos, ..all });
            let reaches = |i: usize, j: usize| case.reaches(id[i] as usize, id[j] as usize);
            visited(&list, id, &owned, &reaches).into_iter().map(|(i, j)| (id[i], id[j])).collect()
        };
        (id[owned.clone()].to_vec(), kinds_across(across).into_iter().map(pairs_of).collect())
    })
}

#[test]
fn ranks_of_the_domain_find_the_pairs_of_naive() {
    for case in cases::all() {
        let naive = case.naive();
        for (ranks, across) in
            RANKS.into_iter().flat_map(|n| [PairSharing::BothRanks, PairSharing::OneRank].map(|a| (n, a)))
        {
            let found = synced(&case, ranks, across);
            let owner = |particle: u64| found.iter().position(|(owned, _)| owned.contains(&particle));
            let owners: Vec<_> = (0..case.position.len()).map(|k| owner(k as u64)).collect();
            assert!(owners.iter().all(Option::is_some), "every particle has an owner");
            for (k, (kind, symmetric)) in kinds_across(across).into_iter().enumerate() {
                let mut pairs: Vec<_> = found.iter().flat_map(|(_, pairs)| pairs[k].clone()).collect();
                let once = |i: u64, j: u64| {
                    across == PairSharing::OneRank || owners[i as usize] == owners[j as usize]
                };
                if let Err(wrong) = compare(&naive, &mut pairs, symmetric, &once) {
                    panic!(
                        "{}; {kind:?}, symmetric {symmetric}, {ranks} ranks, {across:?}: {wrong}",
                        case.name
                    );
                }
            }
        }
    }
}

fn uniform(boundary: &str) -> Case {
    let name = format!("uniform, {boundary}, equal");
    cases::all().into_iter().find(|case| case.name == name).unwrap()
}

/// The list of a share with its entries changed.
fn tampered(
    case: &Case,
    share: &Share,
    symmetric: bool,
    change: impl Fn(&mut Vec<Vec<u32>>),
) -> NeighborList {
    let list = ClusterList::build(&request(case, share, symmetric, Coding::Nibble)).unwrap();
    let decoded = list.super_clusters().map(|super_cluster| {
        let mut entries = Vec::new();
        list.decode(super_cluster, &mut entries);
        entries.iter().map(|entry| entry.cluster).collect()
    });
    let mut clusters: Vec<Vec<u32>> = decoded.collect();
    change(&mut clusters);
    NeighborList::Clustered(ClusterList::from_clusters(
        share.owned.clone(),
        symmetric,
        Coding::Nibble,
        &clusters,
    ))
}

#[test]
fn planted_faults_are_seen() {
    let case = uniform("periodic");
    let naive = case.naive();
    for symmetric in [false, true] {
        let outcome = |change: &dyn Fn(&mut Vec<Vec<u32>>)| {
            check(&case, &naive, symmetric, 1, &|share| tampered(&case, share, symmetric, change))
        };
        assert_eq!(outcome(&|_| ()), Ok(()));
        // Entry 8 of super-cluster 1 is its own first cluster or one near it.
        let dropped = outcome(&|clusters| {
            let near = clusters[1].iter().position(|cluster| *cluster >= 8).unwrap();
            clusters[1].remove(near);
        });
        assert!(dropped.unwrap_err().ends_with("is lost"));
    }
    // The first super-cluster lists the second one's first cluster near it: the second does not list what meets it.
    let twice = check(&case, &naive, true, 1, &|share| {
        tampered(&case, share, true, |clusters| (0..8).rev().for_each(|own| clusters[1].insert(0, own)))
    });
    assert!(twice.unwrap_err().ends_with("is found twice"));
}

#[test]
fn wrong_images_are_seen() {
    let case = uniform("periodic");
    let naive = case.naive();
    for (kind, symmetric) in kinds() {
        let list_of = |share: &Share| {
            let mut open = uniform("periodic");
            open.bx.boundary[1] = Boundary::Open;
            build(kind, &open, share, symmetric)
        };
        let outcome = check(&case, &naive, symmetric, 1, &list_of);
        assert!(outcome.unwrap_err().ends_with("is lost"), "{kind:?}");
    }
}

#[test]
fn lists_do_not_depend_on_threads() {
    let case = uniform("mixed");
    let share = case.share(1, 2);
    let records = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| match build(KINDS[0], &case, &share, true) {
            NeighborList::Clustered(list) => list.records().0.to_vec(),
            _ => Vec::new(),
        })
    };
    let one = records(1);
    assert!(!one.is_empty());
    assert_eq!(records(3), one);
}

#[test]
fn a_box_narrower_than_two_radii_is_refused() {
    let mut case = uniform("periodic");
    case.radius[100] = 0.7500001;
    let share = case.share(0, 1);
    for symmetric in [false, true] {
        let wrong = ClusterList::build(&request(&case, &share, symmetric, Coding::Nibble)).unwrap_err();
        assert!(wrong.to_string().contains("in y") && wrong.to_string().contains("help:"), "{wrong}");
    }
    case.bx.boundary[1] = Boundary::Open;
    assert!(ClusterList::build(&request(&case, &case.share(0, 1), true, Coding::Nibble)).is_ok());
}
