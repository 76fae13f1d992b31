//! What is installed beside the program: its checks of the machine, manual pages, completions, batch scripts.

use crate::common::program::Case;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

#[test]
fn doctor_checks_the_machine_and_a_folder() {
    let case = Case::new();
    let (status, text) = case.hilbrium(&["doctor"]);
    assert_eq!(status, 0, "{text}");
    for subject in ["processors", "memory", "shared memory", "HDF5", "output folder", "file locks", "GPUs"] {
        assert!(text.lines().any(|line| line.contains(subject)), "{subject}: {text}");
    }
    let (status, text) = case.hilbrium(&["doctor", "--directory", "missing"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("BAD") && text.contains("-> name a folder that exists"), "{text}");
}

#[test]
fn every_command_has_a_manual_page_and_is_completed() {
    let case = Case::new();
    let (status, help) = case.hilbrium(&["--help"]);
    assert_eq!(status, 0);
    let (_, after) = help.split_once("Commands:\n").unwrap();
    let commands: Vec<&str> = after
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 12, "{commands:?}");
    assert_eq!(case.hilbrium(&["manual", "man/man1"]).0, 0);
    for command in &commands {
        let page = std::fs::read_to_string(case.path(&format!("man/man1/hilbrium-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let (status, script) = case.hilbrium(&["completions", shell]);
        assert_eq!(status, 0);
        commands.iter().for_each(|command| assert!(script.contains(command), "{shell}: {command}"));
    }
    assert_eq!(case.hilbrium(&["completions", "cmd"]).0, 2);
}

/// Writes a shell script into the folder of stand-ins.
fn stand_in(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A batch script with stand-ins for Slurm's commands: the ranks get SIGUSR1, the job is requeued, continues
/// and ends.
#[test]
fn batch_scripts_queue_themselves_again_until_the_run_is_done() {
    let deck = "[run]\nsteps = 100000000\ndevice = \"cpu\"\n[start.evrard]\nparticles = 500\n[sph]\n\
                neighbors = 60\n[output]\nobservables = { every_steps = 100000 }\n";
    for script in ["cpu.sbatch", "gpu.sbatch"] {
        let case = Case::new();
        std::fs::write(case.path("deck.toml"), deck).unwrap();
        let folder = case.path("bin");
        std::fs::create_dir(&folder).unwrap();
        // drops its own options; a GPU is not needed to see the script at work
        stand_in(
            &folder,
            "srun",
            "while [ \"$1\" != hilbrium ]; do shift; done; shift\n\
             args=(\"${@/run.device=cuda/run.device=cpu}\")\n\
             if [ -n \"$SIGNAL\" ]; then\n\
                 \"$PROGRAM\" \"${args[@]}\" & child=$!\n\
                 until [ -e out/observables.csv ]; do sleep 0.05; done\n\
                 kill -USR1 $child; wait $child; exit\n\
             fi\n\
             exec \"$PROGRAM\" \"${args[@]}\" --set run.steps=1",
        );
        stand_in(&folder, "scontrol", "echo \"$@\" >> requeued");
        let batch = |deck: &str, signal: &str| {
            let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
            let output =
                Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/slurm").join(script))
                    .args([deck, "out"])
                    .envs([("PATH", path.as_str()), ("PROGRAM", env!("CARGO_BIN_EXE_hilbrium"))])
                    .envs([("SIGNAL", signal), ("SLURM_JOB_ID", "42"), ("SLURM_CPUS_PER_TASK", "1")])
                    .current_dir(case.path("."))
                    .output()
                    .unwrap();
            let text =
                [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
            (output.status.code(), text.concat())
        };
        let requeued = || std::fs::read_to_string(case.path("requeued")).unwrap_or_default();
        let (status, text) = batch("deck.toml", "USR1");
        assert_eq!((status, requeued().as_str()), (Some(0), "requeue 42\n"), "{script}: {text}");
        let (status, text) = batch("deck.toml", "");
        assert_eq!((status, requeued().as_str()), (Some(0), "requeue 42\n"), "{script}: {text}");
        assert!(text.contains("from out/checkpoint-"), "{script} does not go on: {text}");
        let (status, text) = batch("missing.toml", "");
        assert_eq!((status, requeued().as_str()), (Some(2), "requeue 42\n"), "{script}: {text}");
    }
}
