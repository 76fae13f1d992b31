//! Summary of a trajectory for `hilbrium info`.

use std::path::Path;

use super::{ALL_PARTICLES, row_count};
use crate::snapshot::hdf::{self, Outcome, read_rows, read_string};
use crate::snapshot::layout::PROGRAM_GROUP;
use crate::snapshot::read::check_format_version;
use crate::{Error, Result};

/// Describes a trajectory as pairs of name and value.
pub(in crate::snapshot) fn describe(path: &Path) -> Result<Vec<(&'static str, String)>> {
    let wrong = |error: hdf5::Error| Error::Content {
        path: path.to_owned(),
        what: hdf::reason(&error),
        remedy: "copy the file anew, or start again from a checkpoint".into(),
    };
    let file = hdf::open(path).map_err(wrong)?;
    let ours = file.group(PROGRAM_GROUP).ok();
    if let Some(ours) = &ours {
        check_format_version(path, ours)?;
    }
    let group = file.group(ALL_PARTICLES).map_err(wrong)?;
    let mut summary = vec![("kind", "trajectory, H5MD".to_owned())];
    summary.push(("title", ours.and_then(|ours| read_string(&ours, "Title")).unwrap_or_default()));
    let position = group.dataset("position/value").map_err(wrong)?;
    let shape = position.shape();
    summary.push(("particles", shape.get(1).copied().unwrap_or(0).to_string()));
    let frames = row_count(&position);
    summary.push(("frames", frames.to_string()));
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
        summary.push(("steps", format!("{first} to {last}")));
        summary.push(("times", format!("{begin} to {end}")));
        let mut edges = [0.0f64; 3];
        let boxes = group.dataset("box/edges/value").map_err(wrong)?;
        read_rows(&boxes, frames - 1, &mut edges).map_err(wrong)?;
        summary.push(("box", format!("{} x {} x {} in the last frame", edges[0], edges[1], edges[2])));
    }
    for name in group.member_names().map_err(wrong)? {
        let Ok(dataset) = group.dataset(&format!("{name}/value")).or_else(|_| group.dataset(&name)) else {
            continue;
        };
        let kind = dataset.dtype().and_then(|kind| kind.to_descriptor()).map_err(wrong)?;
        let unit = read_string(&dataset, "unit").map_or(String::new(), |unit| format!(" [{unit}]"));
        summary.push(("field", format!("{name:<12}{:?} of {kind}{unit}", dataset.shape())));
    }
    Ok(summary)
}
