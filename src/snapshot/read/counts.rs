//! How many particles a file has, of which types, and whether it is a whole snapshot.

use super::groups::Groups;
use super::links::{self, Place};
use super::refusal::{Checked, Refusal};
use crate::snapshot::layout::GROUP;

/// Most types of particles that are looked for: SWIFT has 7.
const TYPES: usize = 16;

/// Particles of each type by the header, as far as it says.
///
/// # Errors
/// One file of several, and counts that cannot be.
pub(super) fn stated(groups: &Groups) -> Checked<Vec<u64>> {
    // the second is what some of SWIFT's older examples write
    let names = [("Header", "NumFilesPerSnapshot"), ("Header", "NumFileOutputsPerSnapshot")];
    if let Some((_, files)) = groups.first(&names)?
        && files > 1.0
    {
        return Err(Refusal::new(
            format!("it is one of {files} files of a snapshot"),
            "join the files into one first, for example with SWIFT's tools/combine_ics.py FILE.0.hdf5 JOINED.hdf5",
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

/// The types of particles that are left out, by the names of their groups, with how many the header or the group has.
pub(super) fn left_out(place: &Place, counts: &[u64]) -> Vec<(String, u64)> {
    let mut left_out = Vec::new();
    let root = place.file.as_group().ok();
    for kind in 1..TYPES.max(counts.len()) {
        let name = format!("PartType{kind}");
        let group = root.as_ref().and_then(|root| links::group(place, root, &name).ok().flatten());
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

/// See that the energies are energies: Gadget's older files may have entropies under the same name.
///
/// # Errors
/// A header that says so.
pub(super) fn see_that_energies_are_energies(groups: &Groups) -> Checked<()> {
    for name in ["Flag_Entropy_ICs", "Flag_Entropy_Instead_U"] {
        if groups.numbers("Header", name)?.is_some_and(|flags| flags.iter().any(|flag| *flag != 0.0)) {
            return Err(Refusal::new(
                format!("Header/{name} says that {GROUP} has entropies in place of internal energies"),
                format!("convert them, u = A rho^(gamma - 1) / (gamma - 1), and set Header/{name} to 0"),
            ));
        }
    }
    Ok(())
}
