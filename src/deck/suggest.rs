//! Suggests the name that was probably meant.

use strsim::osa_distance;

/// Returns the candidate closest to `word`, if it is a likely typo: the edit distance (insertion, deletion,
/// replacement, swap of neighbors) is at most a third of the longer word, or one word is a prefix of at least
/// 3 letters of the other.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let normalized = |text: &str| -> String {
        text.chars().take(64).map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
    };
    let word = normalized(word);
    let distance_to = |candidate: &'a str| {
        let letters = normalized(candidate);
        let distance = osa_distance(&word, &letters);
        let lengths = [&word, &letters].map(|text| text.chars().count());
        let prefix = lengths.into_iter().min() >= Some(3)
            && (word.starts_with(&letters) || letters.starts_with(&word));
        let near = distance <= lengths[0].max(lengths[1]).div_ceil(3) && distance < lengths[1];
        (near || prefix).then_some((distance, candidate))
    };
    candidates.into_iter().filter_map(distance_to).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognized() {
        let keys = ["neighbors", "neighbor_tolerance", "kernel", "viscosity", "gamma"];
        assert_eq!(nearest("neigbors", keys), Some("neighbors"));
        assert_eq!(nearest("neighbours", keys), Some("neighbors"));
        assert_eq!(nearest("Kernel", keys), Some("kernel"));
        assert_eq!(nearest("kenrel", keys), Some("kernel"));
        assert_eq!(nearest("visc", keys), Some("viscosity"));
        assert_eq!(nearest("temperature", keys), None);
        assert_eq!(nearest("", keys), None);
    }

    #[test]
    fn distances() {
        assert_eq!(osa_distance("ca", "ac"), 1);
        assert_eq!(osa_distance("kitten", "sitting"), 3);
        assert_eq!(osa_distance("", "abc"), 3);
    }
}
