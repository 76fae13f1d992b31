//! Particle counts per type, and checks that the file is a whole snapshot.

use super::groups::Groups;
use super::links::{self, OpenFile};
use super::refusal::{Checked, Refusal};
use crate::snapshot::layout::PARTICLE_GROUP;

/// Maximum number of particle types searched; SWIFT has 7.
const MAX_TYPES: usize = 16;

/// Particle counts per type from the header; empty if absent.
///
/// # Errors
/// One of several files of a snapshot, and invalid counts.
pub(super) fn stated(groups: &Groups) -> Checked<Vec<u64>> {
    // The second name occurs in some of SWIFT's older examples.
    let names = [("Header", "NumFilesPerSnapshot"), ("Header", "NumFileOutputsPerSnapshot")];
    if let Some((_, files)) = groups.first(&names)?
        && files > 1.0
    {
        return Err(Refusal::new(
            format!("it is one of {files} files of a snapshot"),
            "join the files into one first, for example with SWIFT's tools/combine_ics.py FILE.0.hdf5 \
             JOINED.hdf5",
        ));
    }
    let counts = groups.numbers("Header", "NumPart_ThisFile")?.unwrap_or_default();
    match counts.iter().find(|count| !(**count >= 0.0 && **count < 9e15 && count.fract() == 0.0)) {
        Some(count) => Err(Refusal::new(
            format!("Header/NumPart_ThisFile is negative or no number of particles: {count}"),
            "write the number of particles of each type, or delete the attribute",
        )),
        None => Ok(counts.iter().map(|count| *count as u64).collect()),
    }
}

/// Group names and counts of the particle types that are not read. The count is the larger of the header's
/// and the group's.
pub(super) fn left_out(host: &OpenFile, counts: &[u64]) -> Vec<(String, u64)> {
    let mut left_out = Vec::new();
    let root = host.file.as_group().ok();
    for kind in 1..MAX_TYPES.max(counts.len()) {
        let name = format!("PartType{kind}");
        let group = root.as_ref().and_then(|root| links::group(host, root, &name).ok().flatten());
        let rows = group.and_then(|group| {
            let rows =
                |name: &&str| group.object.dataset(name).ok()?.shape().first().map(|&rows| rows as u64);
            ["Coordinates", "ParticleIDs"].iter().find_map(rows)
        });
        let count = counts.get(kind).copied().unwrap_or(0).max(rows.unwrap_or(0));
        if count > 0 {
            left_out.push((name, count));
        }
    }
    left_out
}

/// Checks that the internal energies are not entropies, which older Gadget files may store under the same
/// name.
///
/// # Errors
/// A header that declares entropies.
pub(super) fn check_energies(groups: &Groups) -> Checked<()> {
    for name in ["Flag_Entropy_ICs", "Flag_Entropy_Instead_U"] {
        if groups.numbers("Header", name)?.is_some_and(|flags| flags.iter().any(|flag| *flag != 0.0)) {
            return Err(Refusal::new(
                format!(
                    "Header/{name} says that {PARTICLE_GROUP} has entropies in place of internal energies"
                ),
                format!("convert them, u = A rho^(gamma - 1) / (gamma - 1), and set Header/{name} to 0"),
            ));
        }
    }
    Ok(())
}
