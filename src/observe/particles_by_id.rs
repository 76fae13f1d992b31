//! Particles distributed over ranks by id, independent of their owners.

use crate::comm::distribution::rank_of;
use crate::domain::Domain;
use crate::particles::{Field, Particles};

/// Words per particle in the exchange: id, species, three coordinates.
const WIDTH: usize = 5;

/// Particles whose ids belong to this rank (by [`rank_of`]), sorted by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ParticlesById {
    /// Ids, increasing.
    pub ids: Vec<u64>,
    /// Species.
    pub kinds: Vec<usize>,
}

impl ParticlesById {
    /// Gathers the unwrapped positions of this rank's ids, by component, sorted by id. The first call defines
    /// the set of particles. Collective.
    pub fn gather(
        &mut self,
        domain: &Domain,
        particles: &Particles,
        kind: impl Fn(usize) -> usize,
    ) -> [Vec<f64>; 3] {
        let comm = &domain.comm;
        let periods = domain.bx.finite_periods();
        let mut outgoing = vec![Vec::new(); comm.size()];
        for row in particles.owned() {
            let id = particles.id[row];
            let image = particles.vector_at(Field::Image, row).component_mul(&periods);
            let position = particles.vector_at(Field::Position, row) + image;
            let words =
                [id, kind(row) as u64, position.x.to_bits(), position.y.to_bits(), position.z.to_bits()];
            outgoing[rank_of(id, comm.size())].extend(words);
        }
        let incoming = comm.all_to_all(&outgoing);
        let rows = || incoming.iter().flat_map(|words| words.as_chunks::<WIDTH>().0);
        if self.ids.is_empty() {
            let mut all: Vec<(u64, usize)> = rows().map(|words| (words[0], words[1] as usize)).collect();
            all.sort_unstable();
            (self.ids, self.kinds) = all.into_iter().unzip();
        }
        let mut positions = [0, 1, 2].map(|_| vec![f64::NAN; self.ids.len()]);
        let mut found = 0;
        for words in rows() {
            let k = self.find(words[0], comm.size());
            (0..3).for_each(|c| positions[c][k] = f64::from_bits(words[2 + c]));
            found += 1;
        }
        assert_eq!(found, self.ids.len(), "particles neither come nor go");
        positions
    }

    /// Returns the index of an id.
    fn find(&self, id: u64, ranks: usize) -> usize {
        // ids without gaps are at the expected index
        let dense = (id / ranks as u64) as usize;
        if self.ids.get(dense) == Some(&id) {
            return dense;
        }
        match self.ids.binary_search(&id) {
            Ok(position) => position,
            Err(_) => unreachable!("particle {id} has not been there before"),
        }
    }
}
