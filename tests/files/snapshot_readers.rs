//! Snapshots open in yt, swiftsimio, pynbody, VTK and h5py with the right mass and center of mass.
//!
//! Needs a Python with `tests/python/requirements.txt`, named by the environment variable HILBRIUM_PYTHON.

use crate::common::skip;
use crate::common::snapshots::*;
use hilbrium::comm::run_local;
use hilbrium::particles::Field;
use hilbrium::snapshot::{Header, write_snapshot};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use std::process::Command;

const COUNT: usize = 3000;

#[test]
fn other_programs_find_the_mass_and_its_center() {
    let Some(python) = skip::python("to open snapshots in other programs") else { return };
    let folder = tempfile::tempdir().unwrap();
    // Kilogram and metre: swiftsimio rounds units that it has no name for to four decimals.
    for (name, boundary, units) in
        [("open", Boundary::Open, [1.0; 3]), ("periodic", Boundary::Periodic, [1e3, 1e2, 1.0])]
    {
        let path = folder.path().join(name).with_extension("hdf5");
        let bx = SimulationBox {
            lower: Vec3d::new(-1.0, -1.5, -1.0),
            upper: Vec3d::new(1.0, 1.0, 1.25),
            boundary: [boundary; 3],
        };
        let header = Header { bx, units, ..header() };
        let parts = run_local(2, |comm| {
            let particles = particles(&comm, COUNT, FIELDS);
            write_snapshot(&path, &comm, &particles, &header, FIELDS).unwrap();
            particles
        });
        let (mut mass, mut moment) = (0.0, Vec3d::zeros());
        for part in &parts {
            for row in part.owned() {
                mass += part.scalar(Field::Mass)[row];
                moment += part.scalar(Field::Mass)[row] * part.vector_at(Field::Position, row);
            }
        }
        let center = moment / mass;
        let numbers = [mass, center.x, center.y, center.z, COUNT as f64].map(|number| format!("{number:?}"));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/read_snapshot.py");
        let output = Command::new(&python).arg(script).arg(&path).args(numbers).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        eprintln!("{said}");
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(said.lines().count(), 5);
    }
}
