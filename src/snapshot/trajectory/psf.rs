//! The topology beside XTC and DCD, which have coordinates only: a PSF file with the name, mass and charge of
//! each particle and no bonds, for VMD and MDAnalysis. Columns are separated by blanks, as the word NAMD in
//! its first line says, because the columns of CHARMM's extended format are not the same in all readers.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use super::Content;
use super::appended::{Sink, gather};
use super::order::Order;
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::snapshot::collective::{partial_name, rename};
use crate::{Error, Result, report};

/// Longest name that VMD reads.
const LONGEST_NAME: usize = 7;
/// Largest id that fits into the column of residue numbers, an integer of 32 bits in readers.
const LARGEST_ID: u64 = i32::MAX as u64;

/// What follows the particles: there are no bonds.
const EMPTY_SECTIONS: &str = "
         0 !NBOND: bonds

         0 !NTHETA: angles

         0 !NPHI: dihedrals

         0 !NIMPHI: impropers

         0 !NDON: donors

         0 !NACC: acceptors

         0 !NNB

";

/// Writes the topology. Collective.
///
/// # Errors
/// [`Error::File`], on every rank if any fails.
pub(super) fn write(
    path: &Path,
    comm: &Communicator,
    content: &Content,
    particles: &Particles,
) -> Result<()> {
    let order = Order::new(comm, &particles.id[particles.owned()]);
    let redistribution = order.redistribution(comm, particles);
    let column = |field: Field| match particles.has(field) {
        true => redistribution.column(comm, particles, field),
        false => Vec::new(),
    };
    let [species, masses, charges] = [Field::Species, Field::Mass, Field::Charge].map(column);
    let ids = redistribution.ids();
    let mut largest = [ids.last().copied().unwrap_or(0)];
    comm.all_max(&mut largest);
    let with_ids = largest[0] <= LARGEST_ID;
    let names = names(content);
    let first = order.rows(comm).start;
    let mut text = String::new();
    for (row, id) in ids.iter().enumerate() {
        let of = |values: &[f64]| values.get(row).copied().unwrap_or(0.0);
        let name = names.get(of(&species) as usize).map_or("X", String::as_str);
        // writing to a string cannot fail
        let _ = writeln!(
            text,
            "{:>10} ALL {:<10} {name:<7} {name:<7} {name:<7} {:>14} {:>14} 0",
            first + row as u64 + 1,
            if with_ids { *id } else { 1 },
            number(of(&charges)),
            number(of(&masses)),
        );
    }
    let partial = partial_name(path);
    let failed = |cause: std::io::Error| Error::file("write", path, &cause);
    let created = comm.is_root().then(|| File::create(&partial).map_err(failed)).transpose();
    let file = comm.agree_on(created)?;
    let mut out = Sink::new(file.as_ref(), 0);
    out.push(text_of_head(content, order.total(), with_ids).as_bytes());
    gather(comm, text.as_bytes(), |bytes| out.push(bytes));
    out.push(EMPTY_SECTIONS.as_bytes());
    let written = out.finish().and_then(|_| file.as_ref().map_or(Ok(()), File::sync_all)).map_err(failed);
    comm.on_root(|| {
        written.and_then(|()| rename(&partial, path)).inspect_err(|_| drop(std::fs::remove_file(&partial)))
    })?;
    report::line(&format!("names, masses and charges of the trajectory's particles: {}", path.display()));
    Ok(())
}

fn text_of_head(content: &Content, total: u64, with_ids: bool) -> String {
    let mut remarks = vec!["written by hilbrium; no bonds".to_owned()];
    remarks.push(match with_ids {
        true => "residue numbers are the ids of the particles".to_owned(),
        false => "residue numbers are no ids, which are too large".to_owned(),
    });
    for (short, name) in names(content).iter().zip(&content.species) {
        if short != name {
            let printable: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            remarks.push(format!("{short} stands for the species {printable}"));
        }
    }
    let mut text = format!("PSF NAMD\n\n{:>10} !NTITLE\n", remarks.len());
    remarks.iter().for_each(|remark| text += &format!(" REMARKS {remark}\n"));
    text + &format!("\n{total:>10} !NATOM\n")
}

/// Names of the species; those that do not fit are `#` and the number of the species.
fn names(content: &Content) -> Vec<String> {
    let fits = |name: &str| {
        !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let short = |(k, name): (usize, &String)| if fits(name) { name.clone() } else { format!("#{}", k + 1) };
    content.species.iter().enumerate().map(short).collect()
}

/// A number without more digits than it has, in at most 14 columns if a single-precision number allows.
fn number(value: f64) -> String {
    let plain = value == 0.0 || (1e-3..1e6).contains(&value.abs());
    let text = if plain { value.to_string() } else { format!("{value:e}") };
    if text.len() <= 14 { text } else { format!("{:e}", value as f32) }
}
