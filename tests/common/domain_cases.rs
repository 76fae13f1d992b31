//! Particle distributions and what one rank holds of them, for the tests of the domain.

use hilbrium::comm::Communicator;
use hilbrium::domain::{Domain, DomainSettings};
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

pub const RANKS: [usize; 4] = [1, 2, 3, 5];

pub const FIELDS: &[Field] =
    &[Field::Position, Field::Velocity, Field::Mass, Field::SmoothingLength, Field::Work, Field::Pressure];

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Uniform,
    Lattice,
    Plummer,
    OnePoint,
    Collinear,
}

pub const KINDS: [Kind; 5] = [Kind::Uniform, Kind::Lattice, Kind::Plummer, Kind::OnePoint, Kind::Collinear];

/// Every particle of all ranks: where it is, its smoothing length and its work.
#[derive(Clone, Debug)]
pub struct Cloud {
    pub bx: SimulationBox,
    pub position: Vec<Vec3d>,
    pub smoothing: Vec<f64>,
    pub work: Vec<f64>,
}

pub fn boxes() -> [SimulationBox; 3] {
    use Boundary::{Open, Periodic};
    [[Open; 3], [Periodic; 3], [Periodic, Open, Periodic]].map(|boundary| SimulationBox {
        lower: Vec3d::new(-0.5, -0.5, -1.0),
        upper: Vec3d::new(0.5, 1.5, 0.0),
        boundary,
    })
}

impl Cloud {
    pub fn new(kind: Kind, bx: SimulationBox, count: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(count as u64 + 17);
        let lengths = bx.lengths();
        let side = (count as f64).cbrt().ceil();
        let place = |k: usize, random: &mut ChaCha8Rng| -> Vec3d {
            let unit = match kind {
                Kind::Uniform => Vec3d::from_fn(|_, _| random.random::<f64>()),
                Kind::Lattice => {
                    let side = side as usize;
                    Vec3d::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64)
                        / side as f64
                }
                Kind::Plummer => {
                    let radius = 0.1 / (random.random_range(0.01f64..0.99).powf(-2.0 / 3.0) - 1.0).sqrt();
                    let direction = Vec3d::from_fn(|_, _| random.random_range(-1.0..1.0)).normalize();
                    Vec3d::repeat(0.5) + direction * radius
                }
                Kind::OnePoint => Vec3d::repeat(0.3),
                Kind::Collinear => Vec3d::new(random.random(), 0.25, 0.25),
            };
            bx.lower + unit.component_mul(&lengths)
        };
        let position: Vec<Vec3d> = (0..count).map(|k| place(k, &mut random)).collect();
        let spacing = 0.6 / side.max(1.0);
        let smoothing = (0..count).map(|_| spacing * random.random_range(0.3f64..1.3)).collect();
        let work = (0..count).map(|_| random.random_range(0.0f64..100.0).floor()).collect();
        Self { bx, position, smoothing, work }
    }

    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// The particles that start on a rank: `whose` says on which.
    pub fn slice(&self, comm: &Communicator, whose: impl Fn(usize) -> usize) -> Particles {
        let mine: Vec<usize> = (0..self.len()).filter(|&id| whose(id) % comm.size() == comm.rank()).collect();
        let mut particles = Particles::new(FIELDS, mine.len());
        for (row, &id) in mine.iter().enumerate() {
            particles.id[row] = id as u64;
        }
        self.set_state(&mut particles);
        particles
    }

    /// Give every owned row the state of its particle in this cloud.
    pub fn set_state(&self, particles: &mut Particles) {
        for row in particles.owned() {
            let id = particles.id[row] as usize;
            particles.set_vector(Field::Position, row, self.position[id]);
            particles.set_vector(Field::Velocity, row, velocity(id));
            particles.scalar_mut(Field::Mass)[row] = 1.0 + id as f64;
            particles.scalar_mut(Field::SmoothingLength)[row] = self.smoothing[id];
            particles.scalar_mut(Field::Work)[row] = self.work[id];
            particles.scalar_mut(Field::Pressure)[row] = f64::NAN; // derived: nobody may depend on it
        }
    }

    /// Another cloud of as many particles, some of which have moved far.
    pub fn stirred(&self, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut stirred = self.clone();
        for position in &mut stirred.position {
            let reach = if random.next_u32() % 10 == 0 { 0.4 } else { 0.01 };
            *position += Vec3d::from_fn(|_, _| random.random_range(-reach..reach));
        }
        stirred.work.iter_mut().for_each(|work| *work = random.random_range(0.0f64..1000.0).floor());
        stirred
    }
}

pub fn velocity(id: usize) -> Vec3d {
    Vec3d::new(id as f64, -(id as f64), 0.25 + id as f64)
}

/// Interaction radii: twice the smoothing length.
pub fn radius(particles: &Particles) -> Vec<f64> {
    particles.scalar(Field::SmoothingLength).iter().map(|h| 2.0 * h).collect()
}

/// What a rank holds after a sync, as plain values.
#[derive(Clone, Debug)]
pub struct View {
    pub bx: SimulationBox,
    pub particles: Particles,
    pub range: Range<u64>,
    pub coarse: Vec<u64>,
    pub fine: Vec<u64>,
    pub halo_rows: Vec<Range<usize>>,
}

impl View {
    pub fn new(domain: &Domain, particles: &Particles) -> Self {
        let comm = &domain.comm;
        View {
            bx: domain.bx,
            particles: particles.clone(),
            range: domain.range(comm.rank()),
            coarse: domain.coarse().leaves().keys().to_vec(),
            fine: domain.leaves(particles).keys().to_vec(),
            halo_rows: (0..comm.size()).map(|rank| domain.halo_rows(rank)).collect(),
        }
    }

    /// All bits of the arrangement.
    pub fn bits(&self) -> Vec<u64> {
        let particles = &self.particles;
        let mut bits = [&particles.id[..], &particles.key, &self.coarse, &self.fine].concat();
        bits.extend([particles.owned().start as u64, particles.owned().end as u64]);
        for &field in particles.fields() {
            for component in 0..field.components() {
                bits.extend(particles.component(field, component).iter().map(|value| value.to_bits()));
            }
        }
        bits
    }
}

pub fn settings() -> DomainSettings {
    // Small leaves, so that a few hundred particles have something to divide.
    DomainSettings { bucket_size: 8, coarse_leaves_per_rank: 20, ..DomainSettings::default() }
}

/// Sync a cloud that starts scattered over the ranks.
pub fn sync(comm: &Communicator, cloud: &Cloud, settings: DomainSettings) -> (Domain, Particles) {
    let mut particles = cloud.slice(comm, |id| id / 3);
    let mut domain = Domain::new(comm.clone(), cloud.bx, settings);
    domain.sync(&mut particles, radius).expect("a cloud of finite positions");
    (domain, particles)
}
