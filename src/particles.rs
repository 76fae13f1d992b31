//! Particle storage: columns of doubles with 64-bit ids and keys, all in key order.
//!
//! Row layout of a rank after [`crate::domain::Domain::sync`]: `[halos of lower ranks | padding | owned |
//! padding | halos of higher ranks]`. `owned().start` is a multiple of [`SUPER_CLUSTER`]. Padding rows are
//! ghosts (see [`Particles::ghost`]). The padding behind the owned rows exists only with
//! [`crate::domain::PairSharing::OneRank`].

pub mod blocks;

use std::ops::Range;

use crate::comm::Communicator;
use crate::parallel::{RowRanges, zeros};
use rayon::prelude::*;

/// Rows in a cluster: rows `8c..8c + 8` are cluster `c`.
pub const CLUSTER: usize = crate::simd::COLUMNS;

/// Rows in a super-cluster: rows `64s..64s + 64` are super-cluster `s`.
pub const SUPER_CLUSTER: usize = 64;

/// Clusters in a super-cluster.
pub const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// Lifetime of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Carried from step to step, migrates with the particle, written to checkpoints.
    State,
    /// Recomputed from the state in every step; exists from the pass that writes it to the last one that
    /// reads it.
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

            /// Returns the lifetime of the field's columns.
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
    /// Acceleration by all forces.
    Acceleration = "acceleration", 3, State, [0 1 -2];
    /// Rate of the specific internal energy.
    InternalEnergyRate = "internal_energy_rate", 1, State, [0 2 -3];
    /// Cost of the particle in the last step (SIMD pairs of the passes), which the domain balances.
    Work = "work", 1, State, [0 0 0];
    /// Mass density.
    Density = "density", 1, State, [1 -3 0];
    /// Velocity divergence.
    VelocityDivergence = "velocity_divergence", 1, State, [0 0 -1];
    /// Estimator X of the generalized volume element.
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
    /// Magnitude of the velocity curl.
    VelocityCurl = "velocity_curl", 1, Derived, [0 0 -1];
    /// Gradient of the velocity divergence.
    DivergenceGradient = "divergence_gradient", 3, Derived, [0 -1 -1];
    /// Largest signal speed towards a neighbor.
    SignalSpeed = "signal_speed", 1, Derived, [0 1 -1];
    /// Gravitational potential.
    Potential = "potential", 1, Derived, [0 2 -2];
    /// Acceleration used for the prediction of the running step; exists only during a step.
    KickAcceleration = "kick_acceleration", 3, State, [0 1 -2];
    /// Internal energy rate used for the prediction of the running step; exists only during a step.
    KickEnergyRate = "kick_energy_rate", 1, State, [0 2 -3];
    /// Number density sum of the smoothing-length iteration.
    NumberDensity = "number_density", 1, Derived, [0 -3 0];
    /// Logarithmic derivative of the number density with respect to the smoothing length.
    NumberDensitySlope = "number_density_slope", 1, Derived, [0 -3 0];
    /// Index of the species, from 0, exact; exists only with more than one species.
    Species = "species", 1, State, [0 0 0];
    /// Charge, in the unit for which the constant of the Coulomb interaction is given.
    Charge = "charge", 1, State, [0 0 0];
    /// Number of periods crossed per dimension, as exact whole numbers, positive upward: position + image *
    /// period is a continuous path.
    Image = "image", 3, State, [0 0 0];
    /// Half of the Lennard-Jones distance sigma of the species.
    HalfSigma = "half_sigma", 1, Derived, [0 1 0];
    /// Square root of the Lennard-Jones depth epsilon of the species. Its exponents are set to zero, because
    /// half powers are not represented.
    RootEpsilon = "root_epsilon", 1, Derived, [0 0 0];
    /// Force of the pair interactions.
    Force = "force", 3, Derived, [1 1 -2];
    /// Half the sum of the energies of the particle's pairs.
    PairEnergy = "pair_energy", 1, Derived, [1 2 -2];
    /// Half the sum of the virials r . F of the particle's pairs.
    Virial = "virial", 1, Derived, [1 2 -2];
    /// Velocity of the energy minimization.
    Descent = "descent", 3, State, [0 1 -1];
}

impl Field {
    /// Selects the fields that halos carry from the start: those that passes read of neighbors before any
    /// exchange in the step. Other state fields are read of owned particles only, or are exchanged after they
    /// have been computed. Only gas passes read velocities and masses of neighbors.
    pub fn halo_fields(fields: &[Field]) -> Vec<Field> {
        use Field::*;
        let gas = fields.contains(&SmoothingLength);
        let travels = |field: &Field| match field {
            Position | Species | Charge | SmoothingLength | InternalEnergy => true,
            Velocity | Mass => gas,
            _ => false,
        };
        fields.iter().copied().filter(travels).collect()
    }

    /// Returns the field of this name.
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

/// Number of values written per task.
const TASK: usize = 16 * 1024;

/// Work that overlaps with a halo exchange; it must not read halo values.
pub type OverlappedWork<'m> = dyn FnMut(&Particles) + Send + 'm;

/// Exchanges halo values and may run overlapping work meanwhile.
pub type HaloExchange<'a> = dyn FnMut(&mut Particles, &mut OverlappedWork) + 'a;

/// Returns sums accumulated for halo rows to the owners of the particles.
pub trait ReactionExchange {
    /// Returns whether other ranks exist, which may have sums of owned rows.
    fn others(&self) -> bool;
    /// Returns the runs of owned rows that no other rank contributes sums to: whole super-clusters, in order,
    /// relative to the first owned row.
    fn alone(&self) -> &[Range<usize>];
    /// Sends the sums of halo rows, `words` words per row, to their owners, and passes the sums received for
    /// owned rows to `show` in rank order. `meanwhile` runs while messages are in flight. Both are called
    /// once. Collective.
    fn give_back(
        &self,
        words: usize,
        sums: &SumWriter,
        meanwhile: &mut dyn FnMut(),
        show: &mut dyn FnMut(&[ReturnedSums]),
    );
}

/// Sums of another rank for owned rows.
pub struct ReturnedSums<'r> {
    /// The rows, relative to the first owned row.
    pub rows: &'r RowRanges,
    /// Their sums, row by row.
    pub sums: &'r [u64],
}

/// Writes the sums of a range of rows, row by row.
pub type SumWriter<'s> = dyn Fn(Range<usize>, &mut [u64]) + 's;

/// The particles of a rank: owned ones and halos, as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Particles {
    /// Identity, never changed; `u64::MAX` marks a ghost row of the padding.
    pub id: Vec<u64>,
    /// Hilbert key of the position.
    pub key: Vec<u64>,
    columns: Vec<Vec<f64>>,
    fields: Vec<Field>,
    owned: Range<usize>,
}

impl Particles {
    /// Creates `count` owned particles with ids `0..count` and zeroed `fields`.
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

    /// Returns the fields of these particles in column order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the fields with this role.
    pub fn fields_of(&self, role: Role) -> Vec<Field> {
        self.fields.iter().copied().filter(|field| field.role() == role).collect()
    }

    /// Returns the fields that halos carry from the start.
    pub fn fields_of_halos(&self) -> Vec<Field> {
        Field::halo_fields(&self.fields)
    }

    /// Returns whether the particles have this field.
    pub fn has(&self, field: Field) -> bool {
        self.fields.binary_search(&field).is_ok()
    }

    /// Returns the number of rows: owned, halos and padding.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Returns the total mass over all ranks. Collective.
    pub fn mass(&self, comm: &Communicator) -> f64 {
        let mut mass = [self.scalar(Field::Mass)[self.owned()].iter().sum::<f64>()];
        comm.all_sum(&mut mass);
        mass[0]
    }

    /// Returns the rows that this rank owns.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// Sets the range of owned rows; called by the domain.
    pub fn set_owned(&mut self, owned: Range<usize>) {
        debug_assert!(owned.end <= self.len());
        self.owned = owned;
    }

    /// Returns whether a row is padding; owned rows never are.
    pub fn ghost(&self, row: usize) -> bool {
        self.id[row] == u64::MAX
    }

    /// Returns one component of a field; 0 for a scalar.
    pub fn component(&self, field: Field, component: usize) -> &[f64] {
        debug_assert!(self.has(field), "no column {}", field.name());
        &self.columns[field.first_column() + component]
    }

    /// Returns one component of a field, mutable.
    pub fn component_mut(&mut self, field: Field, component: usize) -> &mut [f64] {
        debug_assert!(self.has(field), "no column {}", field.name());
        &mut self.columns[field.first_column() + component]
    }

    /// Returns a scalar field.
    pub fn scalar(&self, field: Field) -> &[f64] {
        debug_assert!(field.components() == 1);
        self.component(field, 0)
    }

    /// Returns a scalar field, mutable.
    pub fn scalar_mut(&mut self, field: Field) -> &mut [f64] {
        debug_assert!(field.components() == 1);
        self.component_mut(field, 0)
    }

    /// Adds fields; new ones are zero.
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

    /// Copies the owned particles in their order with ids, keys, positions, and those of `fields` that exist.
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

    /// Removes a field and returns its columns, one per component; `None` if it does not exist.
    pub fn take(&mut self, field: Field) -> Option<Vec<Vec<f64>>> {
        let place = self.fields.binary_search(&field).ok()?;
        self.fields.remove(place);
        let columns = &mut self.columns[field.first_column()..][..field.components()];
        Some(columns.iter_mut().map(std::mem::take).collect())
    }

    /// Sets the columns of a field, one per component, and adds the field if it does not exist.
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

    /// Removes fields and frees their memory; ignores those that do not exist.
    pub fn remove(&mut self, fields: &[Field]) {
        fields.iter().for_each(|&field| drop(self.take(field)));
    }

    /// Moves the columns of `from` to `to`, which replaces those of `to`; `from` no longer exists. Both have
    /// the same number of components. Copies nothing.
    pub fn rename(&mut self, from: Field, to: Field) {
        debug_assert!(self.has(from) && from.components() == to.components(), "no columns {}", from.name());
        for c in 0..from.components() {
            self.columns[to.first_column() + c] = std::mem::take(&mut self.columns[from.first_column() + c]);
        }
        self.fields.retain(|field| ![from, to].contains(field));
        let place = self.fields.partition_point(|&field| field < to);
        self.fields.insert(place, to);
    }

    /// Returns the used memory of all columns (bytes), without spare capacity.
    pub fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| size_of_val(&column[..])).sum();
        columns + size_of_val(&self.id[..]) + size_of_val(&self.key[..])
    }

    /// Sets all rows of a field, if it exists.
    pub fn fill(&mut self, field: Field, value: f64) {
        if self.has(field) {
            for c in 0..field.components() {
                let column = self.component_mut(field, c);
                match column.len() {
                    // Too short to be worth waking threads.
                    0..=TASK => column.fill(value),
                    _ => column.par_chunks_mut(TASK).for_each(|rows| rows.fill(value)),
                }
            }
        }
    }

    /// Returns the three components of a vector field.
    pub fn vector(&self, field: Field) -> [&[f64]; 3] {
        debug_assert!(field.components() == 3);
        [0, 1, 2].map(|c| self.component(field, c))
    }

    /// Returns several components, mutable; the pairs `(field, component)` must differ.
    pub fn components_mut<const N: usize>(&mut self, wanted: [(Field, usize); N]) -> [&mut [f64]; N] {
        self.ids_and_components_mut(wanted).1
    }

    /// Returns the ids, and several components, mutable.
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

    /// Returns some components to read and others to modify. No component may be in both lists, or twice in
    /// the second.
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

    /// Iterates over all columns as vectors, to resize them. Afterwards they must have the same length as
    /// `id` and `key`.
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

    /// Returns the vector at a row.
    pub fn vector_at(&self, field: Field, row: usize) -> crate::space::Vec3d {
        let [x, y, z] = self.vector(field);
        crate::space::Vec3d::new(x[row], y[row], z[row])
    }

    /// Sets the vector at a row.
    pub fn set_vector(&mut self, field: Field, row: usize, value: crate::space::Vec3d) {
        for c in 0..3 {
            self.component_mut(field, c)[row] = value[c];
        }
    }
}
