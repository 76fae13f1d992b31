//! Particles where they can be found again: by id, whoever owns them at the moment.

use crate::comm::shares::rank_of;
use crate::domain::Domain;
use crate::particles::{Field, Particles};

/// Words of a particle on its way home: id, kind, three coordinates.
const WIDTH: usize = 5;

/// The particles whose ids belong to this rank (by [`rank_of`]), in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Home {
    /// Ids, increasing.
    pub ids: Vec<u64>,
    /// Kinds.
    pub kinds: Vec<usize>,
}

impl Home {
    /// Where all particles are, on paths without jumps: by component, in the order of the ids. The first call says which
    /// particles there are. Collective.
    pub fn gather(
        &mut self,
        domain: &Domain,
        particles: &Particles,
        kind: impl Fn(usize) -> usize,
    ) -> [Vec<f64>; 3] {
        let comm = &domain.comm;
        let periods = domain.bx.finite_periods();
        let mut leaving = vec![Vec::new(); comm.size()];
        for row in particles.owned() {
            let id = particles.id[row];
            let image = particles.vector_at(Field::Image, row).component_mul(&periods);
            let place = particles.vector_at(Field::Position, row) + image;
            let words = [id, kind(row) as u64, place.x.to_bits(), place.y.to_bits(), place.z.to_bits()];
            leaving[rank_of(id, comm.size())].extend(words);
        }
        let arrived = comm.all_to_all(&leaving);
        let rows = || arrived.iter().flat_map(|words| words.as_chunks::<WIDTH>().0);
        if self.ids.is_empty() {
            let mut all: Vec<(u64, usize)> = rows().map(|words| (words[0], words[1] as usize)).collect();
            all.sort_unstable();
            (self.ids, self.kinds) = all.into_iter().unzip();
        }
        let mut places = [0, 1, 2].map(|_| vec![f64::NAN; self.ids.len()]);
        let mut found = 0;
        for words in rows() {
            let k = self.find(words[0], comm.size());
            (0..3).for_each(|c| places[c][k] = f64::from_bits(words[2 + c]));
            found += 1;
        }
        assert_eq!(found, self.ids.len(), "particles neither come nor go");
        places
    }

    /// The place of an id.
    fn find(&self, id: u64, ranks: usize) -> usize {
        // ids without gaps are where they must be
        let dense = (id / ranks as u64) as usize;
        if self.ids.get(dense) == Some(&id) {
            return dense;
        }
        match self.ids.binary_search(&id) {
            Ok(place) => place,
            Err(_) => unreachable!("particle {id} has not been there before"),
        }
    }
}
