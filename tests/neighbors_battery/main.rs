//! The pair battery: every list kind, half and full, in every boundary, distribution, kind of radii and number of
//! ranks finds exactly the pairs of the O(N^2) search, each as often as it should.

mod cases;

use cases::{Case, Share};
use hilbrium::neighbors::{ClusterList, Coding, ListRequest, NeighborList, ParticleList};
use std::ops::Range;

const RANKS: [usize; 4] = [1, 2, 3, 5];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Clustered(Coding),
    PerParticle,
}

const KINDS: [Kind; 4] = [
    Kind::Clustered(Coding::Nibble),
    Kind::Clustered(Coding::Plain),
    Kind::Clustered(Coding::Band),
    Kind::PerParticle,
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
        coding,
    }
}

fn build(kind: Kind, case: &Case, share: &Share, symmetric: bool) -> NeighborList {
    match kind {
        Kind::Clustered(coding) => {
            NeighborList::Clustered(ClusterList::build(&request(case, share, symmetric, coding)).unwrap())
        }
        Kind::PerParticle => NeighborList::PerParticle(
            ParticleList::build(&request(case, share, symmetric, Coding::Plain)).unwrap(),
        ),
    }
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
        NeighborList::PerParticle(list) => {
            for i in owned.clone() {
                list.neighbors(i).iter().for_each(|&j| visit(i, j as usize));
            }
        }
        NeighborList::Clustered(list) => {
            let mut entries = Vec::new();
            for super_cluster in list.super_clusters() {
                list.decode(super_cluster, &mut entries);
                assert!(entries.windows(2).all(|two| two[0].cluster < two[1].cluster), "entries are sorted");
                assert!(entries.iter().all(|entry| entry.mask != 0), "no entry without a pair");
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
    found: &mut Vec<(u64, u64)>,
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

/// Runs the case over ranks; `tamper` may damage what a rank found.
fn check(
    case: &Case,
    naive: &[(u64, u64)],
    kind: Kind,
    symmetric: bool,
    ranks: usize,
    list_of: &dyn Fn(&Share) -> NeighborList,
) -> Result<(), String> {
    let _ = kind;
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

#[test]
fn every_list_finds_the_pairs_of_naive() {
    let mut pairs = 0;
    for case in cases::all() {
        let naive = case.naive();
        pairs += naive.len();
        for (kind, symmetric, ranks) in KINDS
            .iter()
            .flat_map(|&kind| [false, true].map(|half| (kind, half)))
            .flat_map(|(kind, half)| RANKS.map(|ranks| (kind, half, ranks)))
        {
            let list_of = |share: &Share| build(kind, &case, share, symmetric);
            if let Err(wrong) = check(&case, &naive, kind, symmetric, ranks, &list_of) {
                panic!("{}; {kind:?}, symmetric {symmetric}, {ranks} ranks: {wrong}", case.name);
            }
        }
    }
    assert!(pairs > 100_000, "the battery has pairs to find");
}
