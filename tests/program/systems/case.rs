//! A folder with a deck and files, in which the program runs.

use std::path::PathBuf;
use std::process::Command;

/// What a command printed, and its status.
pub struct Told {
    pub status: i32,
    pub output: String,
    pub error: String,
}

impl Told {
    /// Everything that was printed, after seeing that the command succeeded.
    pub fn done(self) -> String {
        assert_eq!(self.status, 0, "{}{}", self.output, self.error);
        self.output + &self.error
    }

    /// The error, after seeing the status, and that it has all these words and a remedy.
    pub fn refused(self, status: i32, words: &[&str]) -> String {
        assert_eq!(self.status, status, "{}{}", self.output, self.error);
        for word in words.iter().chain(&["help: "]) {
            assert!(self.error.contains(word), "{word} is missing in: {}", self.error);
        }
        self.error
    }
}

pub struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    pub fn new(deck: &str) -> Self {
        let case = Case { folder: tempfile::tempdir().unwrap() };
        case.write("deck.toml", deck);
        case
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub fn command(&self, arguments: &[&str]) -> Told {
        let output = Command::new(env!("CARGO_BIN_EXE_hilbrium"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("RAYON_NUM_THREADS", "1")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Told {
            status: output.status.code().unwrap_or(-1),
            output: text(&output.stdout),
            error: text(&output.stderr),
        }
    }

    /// `hilbrium COMMAND deck.toml` with these `--set` options.
    pub fn deck(&self, command: &str, sets: &[&str]) -> Told {
        let mut arguments = vec![command, "deck.toml"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        self.command(&arguments)
    }

    /// Run the deck; it must succeed.
    pub fn run(&self, sets: &[&str]) -> String {
        self.deck("run", sets).done()
    }

    /// A column in the last line of the record in a folder.
    pub fn last(&self, folder: &str, column: &str) -> f64 {
        let text = std::fs::read_to_string(self.path(folder).join("observables.csv")).unwrap();
        let place = text
            .lines()
            .next()
            .unwrap()
            .split(',')
            .position(|name| name.split_whitespace().next() == Some(column));
        let last = text.lines().last().unwrap();
        last.split(',').nth(place.unwrap_or_else(|| panic!("no column {column}"))).unwrap().parse().unwrap()
    }
}

pub fn close(found: f64, expected: f64, digits: i32) {
    let apart = (found - expected).abs();
    assert!(apart <= 10f64.powi(-digits) * expected.abs().max(1.0), "{found} is not {expected}");
}

/// A deck of Lennard-Jones particles of a file, evaluated once.
pub fn molecules(file: &str, more: &str) -> String {
    format!(
        "[run]\nsteps = 0\nprecision = \"double\"\ndevice = \"cpu\"\n[start.file]\npath = \"{file}\"\n\
         [interaction.lennard-jones]\ncutoff = 2.5\n[time_step]\nfixed = 0.001\n\
         [output]\ndirectory = \"out\"\noverwrite = true\n{more}"
    )
}

/// A deck of gas of a file, evaluated once.
pub fn gas(file: &str, more: &str) -> String {
    format!(
        "[run]\nsteps = 0\nprecision = \"double\"\ndevice = \"cpu\"\n[start.file]\npath = \"{file}\"\n[sph]\nneighbors = 40\n\
         [output]\ndirectory = \"out\"\noverwrite = true\n{more}"
    )
}

/// Energy of two Lennard-Jones particles at a distance, without truncation.
pub fn pair_energy(distance: f64) -> f64 {
    4.0 * (distance.powi(-12) - distance.powi(-6))
}

/// A start of 512 gas particles as another program writes it: a lattice of edge 14 that the `change` may alter.
pub fn gas_file(path: &std::path::Path, change: impl FnOnce(&hdf5::File)) {
    let file = hdf5::File::create(path).unwrap();
    let mut places = Vec::new();
    let jitter = |k: usize| ((k * 7919) % 101) as f64 * 0.001;
    for k in 0..512usize {
        places.extend([k / 64, k / 8 % 8, k % 8].map(|cell| cell as f64 * 1.75 + 0.1 + jitter(k)));
    }
    let group = file.create_group("PartType0").unwrap();
    let coordinates = group.new_dataset::<f64>().shape([512, 3]).create("Coordinates").unwrap();
    coordinates.write_raw(&places).unwrap();
    group.new_dataset_builder().with_data(&vec![3.0f64; 512]).create("Masses").unwrap();
    group.new_dataset_builder().with_data(&vec![1.5f64; 512]).create("InternalEnergy").unwrap();
    group.new_dataset_builder().with_data(&(1..513i64).collect::<Vec<_>>()).create("ParticleIDs").unwrap();
    let header = file.create_group("Header").unwrap();
    header.new_attr_builder().with_data(&[14.0f64]).create("BoxSize").unwrap();
    header.new_attr_builder().with_data(&[512i32, 0, 0, 0, 0, 0]).create("NumPart_ThisFile").unwrap();
    change(&file);
}

/// Set an attribute of a group, which is made where it is missing.
pub fn attribute<T: hdf5::H5Type>(file: &hdf5::File, group: &str, name: &str, values: &[T]) {
    let group = file.group(group).or_else(|_| file.create_group(group)).unwrap();
    let _ = group.delete_attr(name);
    group.new_attr_builder().with_data(values).create(name).unwrap();
}
