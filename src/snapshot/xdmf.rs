//! The XDMF (version 2) sidecar, with which ParaView and VisIt open a snapshot as points with attributes.

use super::collective::{partial_name, rename};
use super::layout::{PARTICLE_GROUP, dataset_name};
use crate::particles::Field;
use crate::{Error, Result};
use std::fmt::Write;
use std::path::Path;

/// Writes the sidecar at `path` with extension `xdmf`.
pub(super) fn write(path: &Path, time: f64, count: u64, fields: &[Field]) -> Result<()> {
    let target = path.with_extension("xdmf");
    let partial = partial_name(&target);
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let written = std::fs::write(&partial, text(&escaped(&name), time, count, fields))
        .map_err(|cause| Error::file("write", &target, &cause))
        .and_then(|()| rename(&partial, &target));
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    written
}

fn text(file: &str, time: f64, count: u64, fields: &[Field]) -> String {
    let item = |name: &str, kind: &str, width: usize| {
        let shape = if width == 1 { count.to_string() } else { format!("{count} {width}") };
        format!(
            "<DataItem Dimensions=\"{shape}\" NumberType=\"{kind}\" Precision=\"8\" \
             Format=\"HDF\">{file}:/{PARTICLE_GROUP}/{name}</DataItem>"
        )
    };
    let mut text = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n<Xdmf Version=\"2.1\">\n \
         <Domain>\n  \
         <Grid Name=\"particles\" GridType=\"Uniform\">\n   <Time Value=\"{time:?}\"/>\n   \
         <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"{count}\"/>\n   \
         <Geometry GeometryType=\"XYZ\">{}</Geometry>\n",
        item("Coordinates", "Float", 3)
    );
    let mut attribute = |name: &str, kind: &str, width: usize| {
        let shape = ["Scalar", "Vector", "Tensor6"][usize::from(width > 1) + usize::from(width > 3)];
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "   <Attribute Name=\"{name}\" AttributeType=\"{shape}\" Center=\"Node\">{}</Attribute>",
            item(name, kind, width)
        );
    };
    for &field in fields.iter().filter(|&&field| field != Field::Position) {
        attribute(dataset_name(field), "Float", field.components());
    }
    attribute("ParticleIDs", "Int", 1);
    text + "  </Grid>\n </Domain>\n</Xdmf>\n"
}

fn escaped(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_time_and_shapes_are_said() {
        let text = text("a&amp;b.hdf5", 0.1, 7, &[Field::Position, Field::Mass, Field::GradientMatrix]);
        assert!(text.contains("<Time Value=\"0.1\"/>"), "{text}");
        assert!(text.contains("Dimensions=\"7 6\""), "{text}");
        assert!(text.contains("a&amp;b.hdf5:/PartType0/Masses"), "{text}");
        assert_eq!(text.matches("Coordinates").count(), 1);
        assert_eq!(escaped("a&b"), "a&amp;b");
    }
}
