//! `hilbrium completions`: a script that completes commands and options in a shell.

use super::Ending;
use crate::{Result, report};
use clap_complete::Shell;

pub(super) fn completions(shell: Shell, mut command: clap::Command) -> Result<Ending> {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut script);
    report::forward(&script);
    Ok(Ending::Done)
}
