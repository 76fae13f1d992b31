//! What a trajectory holds, to read.

use std::path::Path;

use hdf5::types::VarLenUnicode;

use super::{GROUP, rows_of};
use crate::snapshot::hdf::{self, Outcome, read_rows, read_string};
use crate::snapshot::layout::OURS;
use crate::snapshot::read::refuse_other_versions;
use crate::{Error, Result};

/// What a trajectory holds, as names and values to read.
pub(in crate::snapshot) fn describe(path: &Path) -> Result<Vec<(&'static str, String)>> {
    let wrong = |error: hdf5::Error| Error::Content {
        path: path.to_owned(),
        what: hdf::reason(&error),
        remedy: "copy the file anew, or start again from a checkpoint".into(),
    };
    let file = hdf::open(path).map_err(wrong)?;
    let ours = file.group(OURS).ok();
    if let Some(ours) = &ours {
        refuse_other_versions(path, ours)?;
    }
    let group = file.group(GROUP).map_err(wrong)?;
    let mut told = vec![("kind", "trajectory, H5MD".to_owned())];
    told.push(("title", ours.and_then(|ours| read_string(&ours, "Title")).unwrap_or_default()));
    let position = group.dataset("position/value").map_err(wrong)?;
    let shape = position.shape();
    told.push(("particles", shape.get(1).copied().unwrap_or(0).to_string()));
    let frames = rows_of(&position);
    told.push(("frames", frames.to_string()));
    if frames > 0 {
        let ends = |name: &str| -> Outcome<[f64; 2]> {
            let dataset = group.dataset(name)?;
            let mut ends = [[0.0f64]; 2];
            read_rows(&dataset, 0, &mut ends[0])?;
            read_rows(&dataset, frames - 1, &mut ends[1])?;
            Ok([ends[0][0], ends[1][0]])
        };
        let ([first, last], [begin, end]) =
            (ends("position/step").map_err(wrong)?, ends("position/time").map_err(wrong)?);
        told.push(("steps", format!("{first} to {last}")));
        told.push(("times", format!("{begin} to {end}")));
        let mut edges = [0.0f64; 3];
        let boxes = group.dataset("box/edges/value").map_err(wrong)?;
        read_rows(&boxes, frames - 1, &mut edges).map_err(wrong)?;
        told.push(("box", format!("{} x {} x {} in the last frame", edges[0], edges[1], edges[2])));
    }
    for name in group.member_names().map_err(wrong)? {
        let Ok(dataset) = group.dataset(&format!("{name}/value")).or_else(|_| group.dataset(&name)) else {
            continue;
        };
        let kind = dataset.dtype().and_then(|kind| kind.to_descriptor()).map_err(wrong)?;
        let unit = dataset.attr("unit").ok().and_then(|unit| unit.read_scalar::<VarLenUnicode>().ok());
        let unit = unit.map_or(String::new(), |unit| format!(" [{unit}]"));
        told.push(("field", format!("{name:<12}{:?} of {kind}{unit}", dataset.shape())));
    }
    Ok(told)
}
