//! Recognizes HDF5 files that are not snapshots, for helpful errors.

use super::refusal::Refusal;
use hdf5::File;

/// A kind of file that is not a snapshot.
struct FileKind {
    /// Groups, datasets, or (with a leading '@') file attributes that identify the kind; all must be present.
    markers: &'static [&'static str],
    name: &'static str,
    remedy: &'static str,
}

const CONVERT: &str =
    "start from a snapshot of its run: a file with PartType0, as SWIFT, Gadget, GIZMO and Arepo write it";
const GRID: &str = "its data are on a grid: sample particles from them (yt, for example), and write these in \
                    SWIFT's or Gadget's \
                    layout";

const KINDS: [FileKind; 12] = [
    FileKind {
        markers: &["h5md"],
        name: "a trajectory in H5MD",
        remedy: "start from a snapshot, or write one frame of it as .gro (MDAnalysis does) or as extended \
                 XYZ",
    },
    FileKind { markers: &["@_NCProperties"], name: "a NetCDF file", remedy: CONVERT },
    FileKind {
        markers: &["Group", "Subhalo"],
        name: "a catalog of groups and subhalos (Subfind)",
        remedy: "start from the snapshot that the catalog was made from",
    },
    FileKind { markers: &["sim info", "unknown names"], name: "an output of FLASH", remedy: GRID },
    FileKind { markers: &["sim info", "tracer particles"], name: "particles of FLASH", remedy: CONVERT },
    FileKind { markers: &["Grid00000001"], name: "an output of Enzo", remedy: GRID },
    FileKind { markers: &["@RootGridX1"], name: "an output of Athena++", remedy: GRID },
    FileKind { markers: &["@openPMD"], name: "a file in openPMD", remedy: CONVERT },
    FileKind { markers: &["Chombo_global"], name: "a file in Chombo's layout", remedy: GRID },
    FileKind {
        markers: &["header", "particles"],
        name: "a dump of Phantom",
        remedy: "convert it to Gadget's layout with Phantom's utilities",
    },
    FileKind { markers: &["@PYTABLES_FORMAT_VERSION"], name: "a file of PyTables", remedy: CONVERT },
    FileKind { markers: &["Cells", "Cosmology", "SO"], name: "a catalog of halos (SOAP)", remedy: CONVERT },
];

/// The error for a file that lacks `missing`, a group of every snapshot. Names the kind of file if known.
pub(super) fn no_snapshot(file: &File, missing: &str) -> Refusal {
    let has = |mark: &&str| match mark.strip_prefix('@') {
        Some(attribute) => file.attr(attribute).is_ok(),
        None => file.link_exists(mark),
    };
    if let Some(kind) = KINDS.iter().find(|kind| kind.markers.iter().all(has)) {
        return Refusal::new(format!("it is {}, no snapshot", kind.name), kind.remedy);
    }
    let mut members = file.member_names().unwrap_or_default();
    members.sort();
    let particles: Vec<&str> =
        members.iter().map(String::as_str).filter(|name| name.starts_with("PartType")).collect();
    if missing == "PartType0" && !particles.is_empty() {
        return Refusal::new(
            format!("it has no gas particles (PartType0), only {}", particles.join(", ")),
            "give the gas in the group PartType0; particles without gas are read from a group of that name \
             too, where the deck \
             has no [sph]",
        );
    }
    let found = match members.len() {
        0 => "it is empty".to_owned(),
        count => {
            let more = if count > 5 { ", ..." } else { "" };
            format!("it has {}{more}", members[..count.min(5)].join(", "))
        }
    };
    Refusal::new(
        format!("it is HDF5, but no snapshot: it has no group {missing}; {found}"),
        "hilbrium reads HDF5 snapshots of its own, of SWIFT, Gadget, GIZMO and Arepo, and initial conditions \
         in their layout",
    )
}
