//! What the tests of trajectories share.

use std::path::Path;

/// A Lennard-Jones solid that melts: 256 atoms.
pub fn deck(steps: u64, more: &str) -> String {
    format!(
        r#"
        [run]
        steps = {steps}
        precision = "double"
        [start.lattice]
        kind = "fcc"
        cells = [4, 4, 4]
        spacing = 1.6795962
        density = 0.8442
        temperature = 40.0
        jitter = 0.02
        [space]
        boundary = "periodic"
        [interaction.lennard-jones]
        cutoff = 2.5
        truncation = "switched"
        switch_start = 2.0
        [neighbors]
        skin = 0.1
        [time_step]
        fixed = 0.001
        {more}
        "#
    )
}

/// All of an H5MD file, as doubles: as many frames as have positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    pub steps: Vec<i64>,
    pub times: Vec<f64>,
    pub ids: Vec<i64>,
    /// Frames of particles of components, by the name of the field.
    pub fields: Vec<(String, Vec<f64>)>,
}

/// The frames of a file, of which all but the positions may have one more: a killed run's.
pub fn frames(path: &Path) -> Frames {
    let file = hdf5::File::open(path).unwrap();
    let all = file.group("particles/all").unwrap();
    let count = all.dataset("position/value").unwrap().shape()[0];
    let numbers = |name: &str| -> Vec<f64> {
        let dataset = all.dataset(name).unwrap();
        let shape = dataset.shape();
        assert!(shape[0] == count || shape[0] == count + 1, "{name}: {shape:?}, {count} frames");
        let mut numbers: Vec<f64> = dataset.read_raw().unwrap();
        numbers.truncate(count * shape[1..].iter().product::<usize>());
        numbers
    };
    let mut fields = vec![("box".to_string(), numbers("box/edges/value"))];
    for name in ["position", "velocity", "force", "image"] {
        if all.link_exists(name) {
            fields.push((name.into(), numbers(&format!("{name}/value"))));
        }
    }
    let ids = all.dataset("id").unwrap().read_raw().unwrap();
    let steps = numbers("position/step").iter().map(|&step| step as i64).collect();
    Frames { steps, times: numbers("position/time"), ids, fields }
}

/// Everything, in double precision.
pub const ALL: &str =
    "[output.trajectory]\nevery_steps = 30\nvelocities = true\nforces = true\nprecision = \"double\"\n";
