//! Memory that this process may still allocate.

use std::path::Path;

/// Returns the memory available in the system and in the control group of this process (bytes); infinite if
/// neither reports it.
pub fn available() -> f64 {
    let system = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_system(&text));
    let group = of_group(Path::new("/sys/fs/cgroup"));
    system.unwrap_or(f64::INFINITY).min(group.unwrap_or(f64::INFINITY))
}

/// Parses the available memory (bytes) from the text of `/proc/meminfo`.
fn of_system(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? * 1024.0)
}

/// Returns the memory left in a version 2 control group (bytes); `None` without a limit.
fn of_group(folder: &Path) -> Option<f64> {
    let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<f64>().ok();
    Some((number("memory.max")? - number("memory.current")?).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_system_and_group_holds() {
        let text = "MemTotal:       24635416 kB\nMemAvailable:   20000000 kB\n";
        assert_eq!(of_system(text), Some(20_000_000.0 * 1024.0));
        assert_eq!(of_system("MemTotal: 1 kB\n"), None);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("memory.max"), "max\n").unwrap();
        std::fs::write(folder.path().join("memory.current"), "1000\n").unwrap();
        assert_eq!(of_group(folder.path()), None);
        std::fs::write(folder.path().join("memory.max"), "5000\n").unwrap();
        assert_eq!(of_group(folder.path()), Some(4000.0));
        assert!(available() > 0.0);
    }
}
