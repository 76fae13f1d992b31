//! Checks `[start.file]`, and reads files that a deck names.

use super::check::Deck;
use super::raw::BACKSLASH_HELP;
use crate::plan::*;
use std::io::Read;

impl Deck<'_> {
    /// Returns the path of a start's file; reports one that is not there.
    pub(super) fn path_of_start(&mut self, case: &str) -> std::path::PathBuf {
        let path = std::path::PathBuf::from(self.text(case, "path"));
        if let Some(place) = self.place(case, "path")
            && !path.as_os_str().is_empty()
            && !path.is_file()
        {
            let what = if path.is_dir() { "is a folder" } else { "does not exist" };
            let message = format!("the file {} {what}", path.display());
            let help = match path.to_string_lossy().contains(char::is_control) {
                true => BACKSLASH_HELP,
                false => "check the path; it is relative to where the program is started",
            };
            self.report(Some(place), message, help);
        }
        path
    }

    /// Returns the text of the file that a key names; reports one that is missing, too large or not UTF-8
    /// text.
    pub(super) fn file_of(&mut self, section: &str, name: &str, most: u64) -> Option<String> {
        let path = std::path::PathBuf::from(self.text(section, name));
        let place = self.place(section, name)?;
        let metadata = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file);
        let read = match metadata {
            None => Err((
                "does not exist".to_string(),
                "check the path; it is relative to where the program is started",
            )),
            Some(metadata) if metadata.len() > most => Err((
                format!("has {} bytes, more than {most}", metadata.len()),
                "write fewer rows, or fewer digits",
            )),
            Some(_) => std::fs::File::open(&path)
                .and_then(|file| {
                    let mut text = String::new();
                    file.take(most).read_to_string(&mut text).map(|_| text)
                })
                .map_err(|cause| {
                    (format!("cannot be read: {cause}"), "check its permissions, and that it is text")
                }),
        };
        match read {
            Ok(text) => Some(text),
            Err((what, help)) if !path.as_os_str().is_empty() => {
                self.report(Some(place), format!("the file {} {what}", path.display()), help);
                None
            }
            Err(_) => None,
        }
    }

    /// Checks `[start.file]`.
    pub(super) fn file_start(&mut self, path: std::path::PathBuf) -> StartPlan {
        let case = "start.file";
        let format = self.optional_choice(case, "format").and_then(FileFormat::named);
        let style = self.optional_choice(case, "atom_style").and_then(AtomStyle::named);
        if let Some(other) = format.filter(|&format| format != FileFormat::LammpsData) {
            self.without_effect(case, "atom_style", &format!("format = \"{}\"", other.name()));
        }
        if format == Some(FileFormat::Hdf5) {
            self.without_effect(case, "units", "format = \"hdf5\"");
        }
        if let Some(molecules) = format.filter(|&format| format != FileFormat::Hdf5)
            && self.section("sph").is_some()
        {
            let place = self.place(case, "format");
            let message = "a file of this format has molecules, and the deck has [sph]".into();
            let help = format!(
                "replace [sph] by an [interaction.LAW], or take an hdf5 file instead of {}",
                molecules.name()
            );
            self.report(place, message, help);
        }
        let seed = self.integer(case, "seed");
        let temperature = self.optional_number(case, "temperature");
        if temperature.is_none() {
            self.without_effect(case, "seed", "the missing `temperature`");
        }
        StartPlan::File(FileStart {
            path,
            format,
            units: self.optional_choice(case, "units").and_then(FileUnits::named),
            atom_style: style,
            temperature,
            seed: if temperature.is_some() { seed } else { 1 },
        })
    }
}
