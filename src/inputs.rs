//! Inputs of a command stay as they are: no output may replace one.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::{Error, Result};

/// Refuse outputs that are one of the inputs, by device and inode: another name, a symbolic or a hard link changes
/// nothing. Only regular files count; a path where no file is yet replaces none. `remedy` says what to do instead.
///
/// # Errors
/// [`Error::Usage`] that names the output and the input.
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

/// What makes a regular file that file, whatever it is called.
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
        // what is no file cannot be replaced
        keep(&[Path::new("/dev/null")], ["/dev/null"], "").unwrap();
    }
}
