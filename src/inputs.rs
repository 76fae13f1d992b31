//! Protects the inputs of a command from being overwritten by its outputs.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::{Error, Result};

/// Refuses outputs that are the same file as an input, compared by device and inode, hence also through links
/// and other spellings of the path. Only existing regular files are compared. `remedy` completes the error.
///
/// # Errors
/// [`Error::Usage`] with the output and the input.
pub fn keep<P: AsRef<Path>>(
    inputs: &[&Path],
    outputs: impl IntoIterator<Item = P>,
    remedy: &str,
) -> Result<()> {
    let known: Vec<((u64, u64), &Path)> =
        inputs.iter().filter_map(|input| Some((identity(input)?, *input))).collect();
    for output in outputs {
        let output = output.as_ref();
        let same = identity(output).and_then(|own| known.iter().find(|(input, _)| *input == own));
        if let Some((_, input)) = same {
            let what = if *input == output {
                format!("{} is an input, and would be replaced by an output", input.display())
            } else {
                let (output, input) = (output.display(), input.display());
                format!("the output {output} is the same file as the input {input}, which it would replace")
            };
            return Err(Error::usage(what, remedy));
        }
    }
    Ok(())
}

/// Returns device and inode of a regular file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_other_spellings_are_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("input"), "text").unwrap();
        std::fs::write(path("other"), "text").unwrap();
        std::fs::hard_link(path("input"), path("hard")).unwrap();
        std::os::unix::fs::symlink(path("input"), path("symbolic")).unwrap();
        std::fs::create_dir(path("below")).unwrap();
        let input = path("input");
        for name in ["input", "hard", "symbolic", "below/../input"] {
            let error = keep(&[&input], [path("other"), path(name)], "choose another name").unwrap_err();
            assert_eq!(error.exit_status(), 2, "{name}");
            assert!(error.to_string().contains("choose another name"), "{error}");
        }
        keep(&[&input, &path("missing")], [path("other"), path("missing"), path("below")], "").unwrap();
        // Special files cannot be replaced.
        keep(&[Path::new("/dev/null")], ["/dev/null"], "").unwrap();
    }
}
