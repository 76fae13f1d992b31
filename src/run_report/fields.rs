//! Slice and projection of the density of the last snapshot.

use std::path::Path;

use super::folder::Folder;
use super::raster::{ColorMap, Raster};
use super::sample::{Maps, stamp_of};
use crate::maps::{Map, Request, Spread, extent_of};
use crate::report::grouped;
use crate::report::picture::Scale;
use crate::snapshot::particle_count;
use crate::{Error, Result};

/// Cells along the longer side.
const PIXELS: usize = 320;

/// Line of sight and normal of the plane: z.
const AXIS: usize = 2;

/// The density of the last snapshot in the middle plane and along the line of sight; the number density of
/// particles without smoothing lengths. Nothing without snapshots, or with `most` particles 0. A snapshot
/// whose `known` maps are up to date is not read.
///
/// # Errors
/// Those of [`Map::of_snapshot`]; [`Error::Content`] for a snapshot of more than `most` particles.
pub fn of_last_snapshot(folder: &Folder, most: u64, known: &mut Option<Maps>) -> Result<Vec<Raster>> {
    let Some((_, path)) = folder.snapshots.last().filter(|_| most > 0) else { return Ok(Vec::new()) };
    let stamp = stamp_of(path)?;
    let maps = match known.take() {
        Some(maps) if maps.path == *path && maps.stamp == stamp => maps,
        _ => {
            let count = particle_count(path)?;
            let rasters = if count > most { Vec::new() } else { draw(path)? };
            Maps { path: path.clone(), stamp, count, rasters }
        }
    };
    let Maps { count, rasters, .. } = known.insert(maps);
    if *count > most {
        return Err(Error::Content {
            path: path.clone(),
            what: format!(
                "it has {} particles, this report maps the density of at most {}",
                grouped(*count),
                grouped(most)
            ),
            remedy: "`hilbrium picture FILE --slice z=0` draws it".into(),
        });
    }
    Ok(rasters.clone())
}

/// Maps of a snapshot.
fn draw(path: &Path) -> Result<Vec<Raster>> {
    let extent = extent_of(path, AXIS)?;
    let planes = [Some(middle(path)?), None];
    let request = |plane| Request { pixels: PIXELS, ..Request::new(AXIS, plane, extent) };
    let maps = planes.map(|plane| Map::of_snapshot(path, &request(plane)));
    maps.into_iter().filter_map(|map| map.and_then(raster).transpose()).collect()
}

/// Coordinate of the plane in the middle of the particles or the box: 0 if that is near.
fn middle(path: &Path) -> Result<f64> {
    let [_, (lower, upper)] = extent_of(path, 0)?;
    let middle = 0.5 * (lower + upper);
    Ok(if middle.abs() < 0.01 * (upper - lower) { 0.0 } else { middle })
}

/// A map as the page shows it; `None` if no particle reaches it.
fn raster(map: Map) -> Result<Option<Raster>> {
    let spread = Spread::of(&map);
    if spread.is_empty() {
        return Ok(None);
    }
    let colors = spread.colors(None, None)?;
    let [(left, right), (lower, upper)] = map.raster.extent;
    Ok(Some(Raster {
        title: map.title,
        values: map.raster.values.iter().map(|&value| value as f32).collect(),
        width: map.raster.pixels[0],
        height: map.raster.pixels[1],
        extent: [left, right, lower, upper],
        axes: map.axes,
        label: map.label,
        unit: String::new(),
        color_map: ColorMap::Inferno,
        logarithmic: colors.scale == Scale::Logarithmic,
        range: Some([colors.range.0, colors.range.1]),
    }))
}
