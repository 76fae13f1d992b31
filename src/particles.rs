//! The particles: named columns of doubles beside the 64-bit identity, all in key order.
//!
//! Layout on a rank, after [`crate::domain::Domain::sync`]: `[halos of lower ranks | padding | owned | padding | halos of
//! higher ranks]`; `owned().start` is a multiple of [`SUPER_CLUSTER`], the padding are ghosts (see [`Particles::ghost`]); there
//! is none behind the owned rows where each of two ranks has their pairs.

use std::ops::Range;

use crate::comm::Communicator;
use crate::runs::Runs;
use rayon::prelude::*;

/// Rows in a cluster: rows `8c..8c + 8` are cluster `c`.
pub const CLUSTER: usize = 8;

/// Rows in a super-cluster: rows `64s..64s + 64` are super-cluster `s`.
pub const SUPER_CLUSTER: usize = 64;

/// Clusters in a super-cluster.
pub const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Carried from step to step, exchanged with the particle, written to checkpoints.
    State,
    /// Made anew from the state in every step, by the pass that writes it, and there for as long as it is read.
    Derived,
}

macro_rules! fields {
    ($($(#[doc = $doc:literal])+ $field:ident = $name:literal, $components:literal, $role:ident, [$mass:literal $length:literal $time:literal];)*) => {
        /// A named quantity of a particle: one column per component.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Field { $($(#[doc = $doc])+ $field),* }

        impl Field {
            /// Every field, in the order of their columns.
            pub const ALL: &[Field] = &[$(Field::$field),*];

            /// The name used in laws, logs and files, in snake case.
            pub const fn name(self) -> &'static str { match self { $(Field::$field => $name),* } }

            /// Number of components: 1, 3 (a vector) or 6 (a symmetric tensor: xx xy xz yy yz zz).
            pub const fn components(self) -> usize { match self { $(Field::$field => $components),* } }

            /// What the field is for.
            pub const fn role(self) -> Role { match self { $(Field::$field => Role::$role),* } }

            /// Exponents of mass, length and time of the field's unit.
            pub const fn dimensions(self) -> [i32; 3] { match self { $(Field::$field => [$mass, $length, $time]),* } }
        }
    };
}

fields! {
    /// Position.
    Position = "position", 3, State, [0 1 0];
    /// Velocity.
    Velocity = "velocity", 3, State, [0 1 -1];
    /// Mass.
    Mass = "mass", 1, State, [1 0 0];
    /// Smoothing length h; the kernels' support is 2h.
    SmoothingLength = "smoothing_length", 1, State, [0 1 0];
    /// Specific internal energy u.
    InternalEnergy = "internal_energy", 1, State, [0 2 -2];
    /// Viscosity coefficient alpha.
    Viscosity = "viscosity", 1, State, [0 0 0];
    /// Acceleration, of all forces.
    Acceleration = "acceleration", 3, State, [0 1 -2];
    /// Rate of the specific internal energy.
    InternalEnergyRate = "internal_energy_rate", 1, State, [0 2 -3];
    /// Work spent on the particle in the last step, in lane pairs of the passes: what the domain balances.
    Work = "work", 1, State, [0 0 0];
    /// Mass density.
    Density = "density", 1, State, [1 -3 0];
    /// Velocity divergence.
    VelocityDivergence = "velocity_divergence", 1, State, [0 0 -1];
    /// Generalized volume element's estimator X.
    VolumeElement = "volume_element", 1, Derived, [0 3 0];
    /// The sum k = sum X_j W_ij, with volume X / k.
    VolumeSum = "volume_sum", 1, Derived, [0 0 0];
    /// The grad-h factor Omega.
    GradH = "grad_h", 1, Derived, [0 0 0];
    /// Pressure.
    Pressure = "pressure", 1, Derived, [1 -1 -2];
    /// Speed of sound.
    SoundSpeed = "sound_speed", 1, Derived, [0 1 -1];
    /// Inverse of the integral approach's tau matrix: xx xy xz yy yz zz.
    GradientMatrix = "gradient_matrix", 6, Derived, [0 -2 0];
    /// Magnitude of the velocity's curl.
    VelocityCurl = "velocity_curl", 1, Derived, [0 0 -1];
    /// Gradient of the velocity divergence.
    DivergenceGradient = "divergence_gradient", 3, Derived, [0 -1 -1];
    /// Largest signal speed towards a neighbor.
    SignalSpeed = "signal_speed", 1, Derived, [0 1 -1];
    /// Gravitational potential.
    Potential = "potential", 1, Derived, [0 2 -2];
    /// Acceleration that the running step has been predicted with; there during a step alone.
    KickAcceleration = "kick_acceleration", 3, State, [0 1 -2];
    /// Internal energy rate that the running step has been predicted with; there during a step alone.
    KickEnergyRate = "kick_energy_rate", 1, State, [0 2 -3];
    /// Number density sum of the smoothing-length iteration.
    NumberDensity = "number_density", 1, Derived, [0 -3 0];
    /// Logarithmic derivative of the number density with the smoothing length.
    NumberDensitySlope = "number_density_slope", 1, Derived, [0 -3 0];
    /// Index of the species, from 0, exact; there with more than one species.
    Species = "species", 1, State, [0 0 0];
    /// Charge, in units that the constant of the Coulomb interaction belongs to.
    Charge = "charge", 1, State, [0 0 0];
    /// Periods that a particle has crossed upward per dimension, as exact whole numbers: position + image * period is a
    /// path without jumps.
    Image = "image", 3, State, [0 0 0];
    /// Half of the Lennard-Jones distance sigma, by the species.
    HalfSigma = "half_sigma", 1, Derived, [0 1 0];
    /// Square root of the Lennard-Jones depth epsilon, by the species; no unit is told, as halves of powers have none here.
    RootEpsilon = "root_epsilon", 1, Derived, [0 0 0];
    /// Force of the pair interactions.
    Force = "force", 3, Derived, [1 1 -2];
    /// Half the energies of the particle's pairs.
    PairEnergy = "pair_energy", 1, Derived, [1 2 -2];
    /// Half the virials r . F of the particle's pairs.
    Virial = "virial", 1, Derived, [1 2 -2];
    /// Velocity of the search for a minimum of the energy.
    Descent = "descent", 3, State, [0 1 -1];
}

impl Field {
    /// Those of some fields that halos come with: what passes read of a neighbor before anything is shared in the step. The rest of
    /// the state is read of owned particles alone, or made from them and shared then. Only the passes of a gas read velocities and
    /// masses of neighbors.
    pub fn of_halos(fields: &[Field]) -> Vec<Field> {
        use Field::*;
        let gas = fields.contains(&SmoothingLength);
        let travels = |field: &Field| match field {
            Position | Species | Charge | SmoothingLength | InternalEnergy => true,
            Velocity | Mass => gas,
            _ => false,
        };
        fields.iter().copied().filter(travels).collect()
    }

    /// The field of that name.
    pub fn named(name: &str) -> Option<Field> {
        Field::ALL.iter().copied().find(|field| field.name() == name)
    }

    const fn first_column(self) -> usize {
        let (mut column, mut k) = (0, 0);
        while k < self as usize {
            column += Field::ALL[k].components();
            k += 1;
        }
        column
    }
}

/// Values that are written by one thread.
const TASK: usize = 16 * 1024;

/// So many zeros, or what else is the default, written by all threads.
pub(crate) fn zeros<T: Copy + Default + Send + Sync>(count: usize) -> Vec<T> {
    const ROW: usize = 64;
    if count <= TASK {
        return vec![T::default(); count];
    }
    let rows = (0..count.div_ceil(ROW)).into_par_iter().with_min_len(TASK / ROW);
    let mut zeros = rows.map(|_| [T::default(); ROW]).collect::<Vec<_>>().into_flattened();
    zeros.truncate(count);
    zeros
}

/// What is done with particles while values of halos are on their way: it must not look at these.
pub type Meanwhile<'m> = dyn FnMut(&Particles) + Send + 'm;

/// Brings values of halos, and may do something meanwhile.
pub type Arrive<'a> = dyn FnMut(&mut Particles, &mut Meanwhile) + 'a;

/// Gives sums of halos to their owners.
pub trait GiveBack {
    /// Whether there are other ranks, which may have sums of owned rows.
    fn others(&self) -> bool;
    /// Runs of owned rows, in order, counted from the first one, of which none of them has: whole super-clusters.
    fn alone(&self) -> &[Range<usize>];
    /// Gives the owners of halos what was summed for these, so many words a row, and shows what other ranks summed for owned rows,
    /// in the order of the ranks; `meanwhile` is done while that is on its way. Both are called once. Collective.
    fn give_back(
        &self,
        words: usize,
        sums: &SumsOf,
        meanwhile: &mut dyn FnMut(),
        show: &mut dyn FnMut(&[Returned]),
    );
}

/// What another rank summed for owned rows.
pub struct Returned<'r> {
    /// The rows, counted from the first owned one.
    pub rows: &'r Runs,
    /// Their sums, row after row.
    pub sums: &'r [u64],
}

/// Writes what was summed for some rows, row after row.
pub type SumsOf<'s> = dyn Fn(Range<usize>, &mut [u64]) + 's;

/// The particles of a rank: owned ones and halos, as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Particles {
    /// Identity, never changed; `u64::MAX` marks a ghost of the padding.
    pub id: Vec<u64>,
    /// Hilbert key of the position.
    pub key: Vec<u64>,
    columns: Vec<Vec<f64>>,
    fields: Vec<Field>,
    owned: Range<usize>,
}

impl Particles {
    /// `count` owned particles with zeroed `fields` and ids `0..count`.
    pub fn new(fields: &[Field], count: usize) -> Self {
        let mut sorted = fields.to_vec();
        sorted.sort();
        sorted.dedup();
        let total: usize = Field::ALL.iter().map(|field| field.components()).sum();
        let mut columns = vec![Vec::new(); total];
        for field in &sorted {
            for c in 0..field.components() {
                columns[field.first_column() + c] = vec![0.0; count];
            }
        }
        Self {
            id: (0..count as u64).collect(),
            key: vec![0; count],
            columns,
            fields: sorted,
            owned: 0..count,
        }
    }

    /// The fields these particles have, in column order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The fields of a role.
    pub fn fields_of(&self, role: Role) -> Vec<Field> {
        self.fields.iter().copied().filter(|field| field.role() == role).collect()
    }

    /// The fields that halos come with.
    pub fn fields_of_halos(&self) -> Vec<Field> {
        Field::of_halos(&self.fields)
    }

    /// Whether the field is there.
    pub fn has(&self, field: Field) -> bool {
        self.fields.binary_search(&field).is_ok()
    }

    /// Number of rows: owned, halos and padding.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// The mass of the particles of all ranks. Collective.
    pub fn mass(&self, comm: &Communicator) -> f64 {
        let mut mass = [self.scalar(Field::Mass)[self.owned()].iter().sum::<f64>()];
        comm.all_sum(&mut mass);
        mass[0]
    }

    /// The rows this rank owns.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// Declare which rows are owned (the domain does this).
    pub fn set_owned(&mut self, owned: Range<usize>) {
        debug_assert!(owned.end <= self.len());
        self.owned = owned;
    }

    /// Whether a row is padding; no owned row is.
    pub fn ghost(&self, row: usize) -> bool {
        self.id[row] == u64::MAX
    }

    /// A scalar field, or one component of a field.
    pub fn component(&self, field: Field, component: usize) -> &[f64] {
        debug_assert!(self.has(field), "no column {}", field.name());
        &self.columns[field.first_column() + component]
    }

    /// One component of a field, to change.
    pub fn component_mut(&mut self, field: Field, component: usize) -> &mut [f64] {
        debug_assert!(self.has(field), "no column {}", field.name());
        &mut self.columns[field.first_column() + component]
    }

    /// A scalar field.
    pub fn scalar(&self, field: Field) -> &[f64] {
        debug_assert!(field.components() == 1);
        self.component(field, 0)
    }

    /// A scalar field, to change.
    pub fn scalar_mut(&mut self, field: Field) -> &mut [f64] {
        debug_assert!(field.components() == 1);
        self.component_mut(field, 0)
    }

    /// Give the particles these fields too, zeroed where they are new.
    pub fn add(&mut self, fields: &[Field]) {
        for &field in fields {
            if let Err(place) = self.fields.binary_search(&field) {
                self.fields.insert(place, field);
                for c in 0..field.components() {
                    self.columns[field.first_column() + c] = zeros(self.len());
                }
            }
        }
    }

    /// The owned particles in the order that they have, with no more than their places and, of those that they have, these fields.
    pub fn bare(&self, fields: &[Field]) -> Particles {
        let mut kept: Vec<Field> = fields.iter().copied().filter(|&field| self.has(field)).collect();
        kept.push(Field::Position);
        let owned = self.owned();
        let mut copy = Particles::new(&kept, owned.len());
        copy.id.copy_from_slice(&self.id[owned.clone()]);
        copy.key.copy_from_slice(&self.key[owned.clone()]);
        for (field, c) in kept.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))) {
            copy.component_mut(field, c).copy_from_slice(&self.component(field, c)[owned.clone()]);
        }
        copy
    }

    /// Take a field from the particles and return its columns, one a component, if it is there.
    pub fn take(&mut self, field: Field) -> Option<Vec<Vec<f64>>> {
        let place = self.fields.binary_search(&field).ok()?;
        self.fields.remove(place);
        let columns = &mut self.columns[field.first_column()..][..field.components()];
        Some(columns.iter_mut().map(std::mem::take).collect())
    }

    /// Give the particles a field with these columns, one a component, in the place of those that it may have.
    pub fn put(&mut self, field: Field, columns: Vec<Vec<f64>>) {
        let whole = columns.iter().all(|column| column.len() == self.len());
        assert!(whole && columns.len() == field.components(), "no columns of {}", field.name());
        if let Err(place) = self.fields.binary_search(&field) {
            self.fields.insert(place, field);
        }
        for (c, column) in columns.into_iter().enumerate() {
            self.columns[field.first_column() + c] = column;
        }
    }

    /// Take fields from the particles, where they are there, and their memory with them.
    pub fn remove(&mut self, fields: &[Field]) {
        fields.iter().for_each(|&field| drop(self.take(field)));
    }

    /// Make the columns of a field those of another with as many components, which loses its own; the first field is
    /// there no more. Nothing is copied.
    pub fn rename(&mut self, from: Field, to: Field) {
        debug_assert!(self.has(from) && from.components() == to.components(), "no columns {}", from.name());
        for c in 0..from.components() {
            self.columns[to.first_column() + c] = std::mem::take(&mut self.columns[from.first_column() + c]);
        }
        self.fields.retain(|field| ![from, to].contains(field));
        let place = self.fields.partition_point(|&field| field < to);
        self.fields.insert(place, to);
    }

    /// The memory of the particles, in bytes, without what is reserved and not used.
    pub fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| size_of_val(&column[..])).sum();
        columns + size_of_val(&self.id[..]) + size_of_val(&self.key[..])
    }

    /// Set all rows of a field, where it is there.
    pub fn fill(&mut self, field: Field, value: f64) {
        if self.has(field) {
            for c in 0..field.components() {
                let column = self.component_mut(field, c);
                match column.len() {
                    // not worth waking a thread
                    0..=TASK => column.fill(value),
                    _ => column.par_chunks_mut(TASK).for_each(|rows| rows.fill(value)),
                }
            }
        }
    }

    /// The three components of a vector field.
    pub fn vector(&self, field: Field) -> [&[f64]; 3] {
        debug_assert!(field.components() == 3);
        [0, 1, 2].map(|c| self.component(field, c))
    }

    /// Several components at once to change, with the rest left to read: `(field, component)` must differ.
    pub fn components_mut<const N: usize>(&mut self, wanted: [(Field, usize); N]) -> [&mut [f64]; N] {
        self.ids_and_components_mut(wanted).1
    }

    /// The ids, and several components at once to change.
    pub fn ids_and_components_mut<const N: usize>(
        &mut self,
        wanted: [(Field, usize); N],
    ) -> (&[u64], [&mut [f64]; N]) {
        let columns = wanted.map(|(field, component)| field.first_column() + component);
        match self.columns.get_disjoint_mut(columns) {
            Ok(slices) => (&self.id, slices.map(Vec::as_mut_slice)),
            Err(_) => unreachable!("ids_and_components_mut: the same component twice"),
        }
    }

    /// Some components to read beside others to change; none may be in both, or twice among the latter.
    pub fn columns(
        &mut self,
        read: &[(Field, usize)],
        change: &[(Field, usize)],
    ) -> (Vec<&[f64]>, Vec<&mut [f64]>) {
        let place = |(field, component): &(Field, usize)| field.first_column() + component;
        let mut slices: Vec<Option<&mut [f64]>> =
            self.columns.iter_mut().map(|column| Some(column.as_mut_slice())).collect();
        let changed: Vec<_> = change.iter().filter_map(|column| slices[place(column)].take()).collect();
        let shared: Vec<Option<&[f64]>> =
            slices.into_iter().map(|slice| slice.map(|slice| &*slice)).collect();
        let seen: Vec<_> = read.iter().filter_map(|column| shared[place(column)]).collect();
        assert!(changed.len() == change.len() && seen.len() == read.len(), "a component is read and changed");
        (seen, changed)
    }

    /// All columns as vectors, with their fields, to rebuild them: in the end they, `id` and `key` must have the
    /// same length again.
    pub(crate) fn rebuild(&mut self) -> impl Iterator<Item = (Field, &mut Vec<f64>)> {
        let fields = self.fields.iter().flat_map(|&field| {
            let first = field.first_column();
            (first..first + field.components()).map(move |column| (column, field))
        });
        let mut fields = fields.peekable();
        self.columns.iter_mut().enumerate().filter_map(move |(column, values)| {
            fields.next_if(|(next, _)| *next == column).map(|(_, field)| (field, values))
        })
    }

    /// The vector at a row.
    pub fn vector_at(&self, field: Field, row: usize) -> crate::space::Vec3d {
        let [x, y, z] = self.vector(field);
        crate::space::Vec3d::new(x[row], y[row], z[row])
    }

    /// Set the vector at a row.
    pub fn set_vector(&mut self, field: Field, row: usize, value: crate::space::Vec3d) {
        for c in 0..3 {
            self.component_mut(field, c)[row] = value[c];
        }
    }
}
