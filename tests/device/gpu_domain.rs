//! The domain of particles on devices, threads as ranks with a device each, against that of processors.

use crate::common::domain_cases::{Cloud, FIELDS, KINDS, Kind, RANKS, boxes, radius};
use hilbrium::Error;
use hilbrium::comm::{Communicator, run_local};
use hilbrium::device::columns::Columns;
use hilbrium::device::domain::Domain;
use hilbrium::device::exchange::Exchange;
use hilbrium::device::hierarchy::Radii;
use hilbrium::device::{Buffer, Device};
use hilbrium::domain::{self, DomainSettings};
use hilbrium::particles::{Field, Particles, Role};
use hilbrium::space::{SimulationBox, Vec3d};
use std::collections::HashSet;

/// State, and a derived column.
fn state() -> Vec<Field> {
    FIELDS.iter().copied().filter(|field| field.role() == Role::State).collect()
}

/// A cloud whose particles cost the same, as on devices.
fn cloud(kind: Kind, bx: SimulationBox, count: usize) -> Cloud {
    let mut cloud = Cloud::new(kind, bx, count);
    cloud.work = vec![0.0; count];
    cloud
}

/// Columns of a rank's particles, and the domain that they are in.
fn on_device(comm: &Communicator, particles: &Particles, fields: &[Field]) -> (Domain, Columns) {
    let device = Device::under_test().unwrap();
    let exchange = Exchange::new(&device, comm).unwrap();
    (Domain::new(&exchange).unwrap(), Columns::upload(&device, particles, fields).unwrap())
}

/// All bits of the rows of some particles.
fn bits(id: &[u64], key: &[u64], columns: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<u64>> {
    let columns = columns.map(|column| column.iter().map(|value| value.to_bits()).collect());
    [id.to_vec(), key.to_vec()].into_iter().chain(columns).collect()
}

fn owned_of_host(particles: &Particles, fields: &[Field]) -> Vec<Vec<u64>> {
    let owned = particles.owned();
    let columns = fields.iter().flat_map(|&f| (0..f.components()).map(move |c| (f, c)));
    let columns = columns.map(|(f, c)| particles.component(f, c)[owned.clone()].to_vec());
    bits(&particles.id[owned.clone()], &particles.key[owned.clone()], columns)
}

/// All rows of a device.
fn rows_of(columns: &Columns, fields: &[Field]) -> Vec<Vec<u64>> {
    let all = columns.all(fields).into_iter().map(|column| {
        assert_eq!(column.len(), columns.rows());
        column.download().unwrap()
    });
    bits(&columns.id.download().unwrap(), &columns.key.download().unwrap(), all)
}

/// Gives every owned row the state of its particle in another cloud.
fn stir(particles: &mut Particles, columns: &mut Columns, cloud: &Cloud, fields: &[Field]) {
    columns.download(particles, fields).unwrap();
    cloud.set_state(particles);
    for &field in fields {
        let device = columns.device().clone();
        let buffers = (0..field.components())
            .map(|c| Buffer::from_host(&device, particles.component(field, c)).unwrap())
            .collect();
        columns.put(field, buffers);
    }
}

/// Syncs on processors and devices, again after particles have moved, partly out of the box, and once more where none has to
/// move, but rows of others are there.
fn compare(ranks: usize, cloud: &Cloud, whose: impl Fn(usize) -> usize + Sync) {
    let fields = [state(), vec![Field::Image]].concat();
    let moved = {
        let mut moved = cloud.stirred(5);
        moved.work = vec![0.0; cloud.len()];
        moved
    };
    run_local(ranks, |comm| {
        let mut particles = cloud.slice(&comm, &whose);
        particles.add(&[Field::Image]);
        let mut host = domain::Domain::new(comm.clone(), cloud.bx, DomainSettings::default());
        let (mut domain, mut columns) = on_device(&comm, &particles, &fields);
        let mut bx = cloud.bx;
        for (round, cloud) in [cloud, &moved, &moved].into_iter().enumerate() {
            if round == 1 {
                let mut copy = particles.clone();
                cloud.set_state(&mut particles);
                stir(&mut copy, &mut columns, cloud, &fields);
            }
            if round == 2 {
                domain.attach(&bx, &mut columns, Radii::All(0.3)).unwrap();
                domain.release().unwrap();
            }
            host.sync(&mut particles, radius).unwrap();
            bx = domain.sync(&bx, &mut columns).unwrap();
            assert_eq!(bx, host.bx);
            assert_eq!(
                (columns.rows(), columns.owned()),
                (particles.owned().len(), 0..particles.owned().len())
            );
            let (found, expected) = (rows_of(&columns, &fields), owned_of_host(&particles, &fields));
            assert!(found == expected, "round {round}, rank {} of {ranks}", comm.rank());
        }
    });
}

#[test]
fn owned_rows_are_those_of_processors() {
    for ranks in RANKS {
        for kind in KINDS {
            for bx in boxes() {
                compare(ranks, &cloud(kind, bx, 700), |id| id / 3);
            }
        }
        compare(ranks, &cloud(Kind::Uniform, boxes()[1], 6000), |id| id / 1000);
        compare(ranks, &cloud(Kind::Plummer, boxes()[0], 3000), |_| 0);
    }
}

#[test]
fn few_particles_and_none_have_owners_too() {
    for ranks in RANKS {
        for count in [0, 1, 2, 4, 70] {
            for bx in boxes() {
                compare(ranks, &cloud(Kind::Uniform, bx, count), |id| id);
                compare(ranks, &cloud(Kind::OnePoint, bx, count), |_| 1);
            }
        }
    }
}

/// What a rank has after rows of others have come.
struct View {
    bx: SimulationBox,
    owned: usize,
    id: Vec<u64>,
    key: Vec<u64>,
    /// Those of [`seen`]: position first, pressure last.
    columns: Vec<Vec<f64>>,
    halos_of_host: usize,
}

/// State, position first, and a derived field.
fn seen() -> Vec<Field> {
    [state(), vec![Field::Pressure]].concat()
}

fn attached(ranks: usize, cloud: &Cloud, same: Option<f64>) -> Vec<View> {
    let views = run_local(ranks, |comm| {
        let mut particles = cloud.slice(&comm, |id| id / 7);
        let (mut domain, mut columns) = on_device(&comm, &particles, &state());
        let bx = domain.sync(&cloud.bx, &mut columns).unwrap();
        let mut host = domain::Domain::new(comm.clone(), cloud.bx, DomainSettings::default());
        let of = |particles: &Particles| match same {
            Some(radius) => vec![radius; particles.len()],
            None => radius(particles),
        };
        host.sync(&mut particles, of).unwrap();
        let halos_of_host = (0..ranks).map(|rank| host.halo_rows(rank).len()).sum();

        // a derived column with something in it
        columns.add(&[Field::Pressure]).unwrap();
        let device = columns.device().clone();
        let owned = columns.owned().len();
        columns.put(Field::Pressure, vec![Buffer::from_host(&device, &vec![3.0; owned]).unwrap()]);
        // and one that halos do not come with
        let work: Vec<f64> = columns.id.download().unwrap().iter().map(|id| 1.0 + *id as f64).collect();
        columns.put(Field::Work, vec![Buffer::from_host(&device, &work).unwrap()]);
        let mut own = Particles::new(FIELDS, 0);
        columns.download(&mut own, &state()).unwrap();
        let each = Buffer::from_host(&device, &radius(&own)).unwrap();
        let radii = same.map_or(Radii::Each(&each), Radii::All);
        let before = rows_of(&columns, &state());
        // twice, as rows of others that are there already must not matter
        domain.attach(&bx, &mut columns, radii).unwrap();
        domain.attach(&bx, &mut columns, radii).unwrap();
        assert_eq!(columns.owned(), 0..owned);
        let after = rows_of(&columns, &state());
        assert!(before.iter().zip(&after).all(|(before, after)| after[..owned] == before[..]));
        assert_eq!(domain.boxes().len(), ranks);
        let view = View {
            bx,
            owned,
            id: columns.id.download().unwrap(),
            key: columns.key.download().unwrap(),
            columns: columns.all(&seen()).iter().map(|column| column.download().unwrap()).collect(),
            halos_of_host,
        };
        check_refresh(&mut domain, &mut columns);
        domain.detach(&mut columns).unwrap();
        assert_eq!((columns.rows(), columns.owned()), (owned, 0..owned));
        view
    });
    let mut owners = vec![usize::MAX; cloud.len()];
    for (rank, view) in views.iter().enumerate() {
        view.id[..view.owned].iter().for_each(|&id| owners[id as usize] = rank);
    }
    assert!(owners.iter().all(|&owner| owner < ranks));
    views.iter().enumerate().for_each(|(rank, view)| check_rows(rank, view, &owners, &views));
    views
}

/// Owned rows, padding, and those of others by rank and in the order of these: what their owners have.
fn check_rows(rank: usize, view: &View, owners: &[usize], views: &[View]) {
    let (rows, owned) = (view.id.len(), view.owned);
    let (pressure, state) = view.columns.split_last().unwrap();
    assert!(pressure[..owned].iter().all(|&pressure| pressure == 3.0));
    if rows == owned {
        return;
    }
    let start = owned.next_multiple_of(64);
    assert!(start < rows);
    for row in owned..start {
        assert_eq!((view.id[row], view.key[row]), (u64::MAX, 0));
        assert!(view.columns[..3].iter().all(|column| column[row] == f64::INFINITY));
        assert!(view.columns[3..].iter().all(|column| column[row] == 0.0));
    }
    let mut last = (0, 0);
    for row in start..rows {
        let owner = owners[view.id[row] as usize];
        assert_ne!(owner, rank);
        let theirs = &views[owner];
        let place = theirs.id[..theirs.owned].iter().position(|&id| id == view.id[row]).unwrap();
        assert!(row == start || (owner, place) > last, "by rank, in its order, none twice");
        last = (owner, place);
        let travel = Field::halo_fields(&seen());
        let comes = seen().into_iter().flat_map(|field| vec![travel.contains(&field); field.components()]);
        for ((column, theirs), comes) in state.iter().zip(&theirs.columns).zip(comes) {
            assert!(comes || theirs[place] > 0.0);
            let expected = if comes { theirs[place] } else { 0.0 };
            assert_eq!(column[row].to_bits(), expected.to_bits());
        }
        assert_eq!((pressure[row], view.key[row]), (0.0, 0));
    }
}

/// What owners change arrives, of state and of derived columns, and of more columns than there are of state.
fn check_refresh(domain: &mut Domain, columns: &mut Columns) {
    let device = columns.device().clone();
    let (rows, owned) = (columns.rows(), columns.owned().len());
    let id = columns.id.download().unwrap();
    let value = |row: usize, k: usize| 0.5 + id[row] as f64 * (k + 1) as f64;
    let fields =
        [Field::GradientMatrix, Field::Velocity, Field::Mass, Field::DivergenceGradient, Field::Density];
    columns.add(&fields).unwrap();
    let mut k = 0;
    for field in fields {
        let buffers = (0..field.components()).map(|_| {
            k += 1;
            let column: Vec<f64> =
                (0..rows).map(|row| if row < owned { value(row, k - 1) } else { -7.0 }).collect();
            Buffer::from_host(&device, &column).unwrap()
        });
        let buffers = buffers.collect();
        columns.put(field, buffers);
    }
    domain.refresh(columns, &fields).unwrap();
    for (k, column) in columns.all(&fields).into_iter().enumerate() {
        let column = column.download().unwrap();
        for row in (0..rows).filter(|&row| id[row] != u64::MAX) {
            assert_eq!(column[row], value(row, k), "row {row}, column {k}");
        }
    }
}

/// Every pair closer than the larger radius has both particles where one of them is owned. Returns their number.
fn check_complete(cloud: &Cloud, views: &[View], same: Option<f64>) -> usize {
    let of = |id: usize| same.unwrap_or(2.0 * cloud.smoothing[id]);
    let mut all: Vec<(Vec3d, u64)> = Vec::new();
    for view in views {
        all.extend((0..view.owned).map(|row| ([0, 1, 2].map(|d| view.columns[d][row]).into(), view.id[row])));
    }
    let mut between = 0;
    for view in views {
        let [owned, here] =
            [view.owned, view.id.len()].map(|end| view.id[..end].iter().collect::<HashSet<_>>());
        for row in 0..view.owned {
            let (place, id) = (Vec3d::from([0, 1, 2].map(|d| view.columns[d][row])), view.id[row]);
            for (other, j) in &all {
                let reach = of(id as usize).max(of(*j as usize));
                if view.bx.shortest(place - other).norm_squared() < reach * reach {
                    assert!(here.contains(j), "{id} has {j} near");
                    between += usize::from(!owned.contains(j));
                }
            }
        }
    }
    between
}

#[test]
fn rows_that_are_needed_come() {
    for (ranks, kind) in [2, 3, 5].into_iter().flat_map(|ranks| KINDS.map(|kind| (ranks, kind))) {
        for bx in boxes() {
            let cloud = cloud(kind, bx, 600);
            let views = attached(ranks, &cloud, None);
            let between = check_complete(&cloud, &views, None);
            let one_point = matches!(kind, Kind::OnePoint);
            assert!(between > 0 || one_point, "nothing to find: {kind:?} on {ranks} ranks");
        }
    }
}

#[test]
fn rows_come_for_one_radius_of_all() {
    for (ranks, reach) in [2, 5].into_iter().flat_map(|ranks| [0.0, 0.04, 0.2].map(|reach| (ranks, reach))) {
        let cloud = cloud(Kind::Uniform, boxes()[1], 1500);
        let views = attached(ranks, &cloud, Some(reach));
        let between = check_complete(&cloud, &views, Some(reach));
        assert_eq!(between > 0, reach > 0.0);
        assert!(reach > 0.0 || views.iter().all(|view| view.id.len() == view.owned));
        // no more than on processors, whose boxes are coarser
        let halos: usize =
            views.iter().map(|view| view.id.iter().skip(view.owned.next_multiple_of(64)).len()).sum();
        let of_host: usize = views.iter().map(|view| view.halos_of_host).sum();
        assert!(halos <= of_host, "{halos} rows of others, {of_host} on processors");
    }
}

#[test]
fn one_rank_and_few_particles_have_nothing_of_others() {
    for bx in boxes() {
        for count in [0, 3, 500] {
            let views = attached(1, &cloud(Kind::Uniform, bx, count), None);
            assert_eq!(views[0].id.len(), count);
        }
        for count in [0, 1, 3] {
            let cloud = cloud(Kind::Uniform, bx, count);
            check_complete(&cloud, &attached(5, &cloud, None), None);
        }
    }
}

#[test]
fn a_particle_at_no_place_fails_everywhere_and_leaves_all_as_it_was() {
    let fields = state();
    for nowhere in [f64::NAN, f64::INFINITY, -1e160] {
        let cloud = cloud(Kind::Uniform, boxes()[1], 100).stirred(3);
        run_local(3, |comm| {
            let mut particles = cloud.slice(&comm, |id| id);
            if comm.rank() == 1 {
                particles.component_mut(Field::Position, 2)[5] = nowhere;
            }
            let (mut domain, mut columns) = on_device(&comm, &particles, &fields);
            let before = rows_of(&columns, &fields);
            let error = domain.sync(&cloud.bx, &mut columns).unwrap_err();
            match comm.rank() {
                1 => assert!(matches!(error, Error::State { .. }) && error.to_string().contains("has z =")),
                _ => assert!(matches!(error, Error::Elsewhere)),
            }
            assert!(rows_of(&columns, &fields) == before);
        });
    }
}
