//! The program in a folder of its own: commands, decks with keys set over them, columns of the record.

use std::path::PathBuf;
use std::process::Command;

/// A folder in which the program runs.
pub struct Case(tempfile::TempDir);

impl Case {
    pub fn new() -> Self {
        Case(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Status and all that is printed, standard error behind standard output.
    pub fn hilbrium(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hilbrium"));
        let output = command.args(arguments).current_dir(self.0.path()).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        (output.status.code().unwrap(), text.concat())
    }

    /// A command on a deck with keys set over it.
    pub fn of_deck(&self, command: &str, deck: &str, sets: &[&str]) -> (i32, String) {
        std::fs::write(self.path("deck.toml"), deck).unwrap();
        let mut arguments = vec![command, "deck.toml"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        self.hilbrium(&arguments)
    }

    /// A run of a deck with keys set over it.
    pub fn run(&self, deck: &str, sets: &[&str]) -> (i32, String) {
        self.of_deck("run", deck, sets)
    }

    /// A column of the record in a folder, by its name without the unit.
    pub fn column(&self, folder: &str, name: &str) -> Vec<f64> {
        let text = std::fs::read_to_string(self.path(folder).join("observables.csv")).unwrap();
        let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = rows.next().unwrap();
        let column = header.iter().position(|title| title.split(' ').next() == Some(name)).unwrap();
        rows.map(|row| row[column].parse().unwrap()).collect()
    }
}
