//! O(N^2) reference: a law over all pairs, in double-precision scalars with minimum images.

use super::law::{Columns, Cutoff, PairLaw};
use crate::particles::{Field, Particles};
use crate::simd::vec3::Vec3;
use crate::space::SimulationBox;
use rayon::prelude::*;

/// Evaluates a law for all owned rows over all rows except ghosts. `radius` has one entry per row.
pub fn naive<L: PairLaw>(law: &L, bx: &SimulationBox, radius: &[f64], particles: &mut Particles) {
    assert_eq!(radius.len(), particles.len(), "one radius per row");
    let rows = particles.len();
    let columns = columns_of(particles, L::INPUTS);
    let common = radius.iter().copied().fold(0.0, f64::max);
    let parameters = law.parameters::<f64>(());
    let input = |row: usize| L::Particle::<f64>::from_columns(|c| columns[c][row]);
    let count = L::Prepared::<f64>::COUNT;
    let mut values = Vec::with_capacity(rows * count);
    for row in 0..rows {
        values.extend_from_slice(L::prepare::<f64>((), parameters, input(row)).to_columns().as_ref());
    }
    let prepared = |row: usize| L::Prepared::<f64>::from_columns(|c| values[row * count + c]);
    let positions: Vec<_> = (0..rows).map(|row| particles.vector_at(Field::Position, row)).collect();
    let outputs: Vec<(usize, L::Output)> = particles
        .owned()
        .into_par_iter()
        .map(|i| {
            let (parameters, own) = (law.parameters::<f64>(()), prepared(i));
            let mut sums: Vec<f64> = L::SUMS.iter().map(|sum| sum.reduction.identity()).collect();
            for j in (0..rows).filter(|&j| j != i && !particles.ghost(j)) {
                let d = bx.shortest(positions[i] - positions[j]);
                let (r2, reach) = (
                    d.norm_squared(),
                    match L::CUTOFF {
                        Cutoff::Own => radius[i],
                        Cutoff::Either => radius[i].max(radius[j]),
                        Cutoff::Common => common,
                    },
                );
                if r2 < reach * reach {
                    let r = Vec3 { x: d.x, y: d.y, z: d.z };
                    let contribution =
                        L::interact::<f64>((), parameters, own, prepared(j), r, r2).to_columns();
                    for ((total, sum), &value) in sums.iter_mut().zip(L::SUMS).zip(contribution.as_ref()) {
                        *total = sum.reduction.join(*total, value);
                    }
                }
            }
            (i, law.finish(input(i), L::Sums::<f64>::from_columns(|c| sums[c])))
        })
        .collect();
    for (row, output) in outputs {
        let values = output.to_columns();
        let mut values = values.as_ref().iter();
        for field in L::OUTPUTS {
            for (c, &value) in (0..field.components()).zip(&mut values) {
                particles.component_mut(*field, c)[row] = value;
            }
        }
    }
}

/// Component columns of fields, in order.
pub(super) fn columns_of<'a>(particles: &'a Particles, fields: &[Field]) -> Vec<&'a [f64]> {
    let components = |field: &Field| {
        let field = *field;
        (0..field.components()).map(move |c| particles.component(field, c))
    };
    fields.iter().flat_map(components).collect()
}
