//! Suggests the name that was probably meant.

/// Returns the candidate closest to `word`, if it is a likely typo: the edit distance (insertion, deletion,
/// replacement, swap of neighbors) is at most a third of the longer word, or one word is a prefix of at least
/// 3 letters of the other.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let normalized = |text: &str| -> Vec<char> {
        text.chars().take(64).map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
    };
    let word = normalized(word);
    let distance_to = |candidate: &'a str| {
        let letters = normalized(candidate);
        let distance = edit_distance(&word, &letters);
        let shorter = word.len().min(letters.len());
        let prefix = shorter >= 3 && word[..shorter] == letters[..shorter];
        let near = distance <= word.len().max(letters.len()).div_ceil(3) && distance < letters.len();
        (near || prefix).then_some((distance, candidate))
    };
    candidates.into_iter().filter_map(distance_to).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Returns the Damerau-Levenshtein distance with swaps of adjacent letters only (optimal string alignment).
fn edit_distance(left: &[char], right: &[char]) -> usize {
    let mut rows =
        [vec![0; right.len() + 1], vec![0; right.len() + 1], (0..=right.len()).collect::<Vec<_>>()];
    for i in 1..=left.len() {
        rows.rotate_left(1);
        rows[2][0] = i;
        for j in 1..=right.len() {
            let replaced = rows[1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut least = replaced.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                least = least.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = least;
        }
    }
    rows[2][right.len()]
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
        let distance =
            |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("ca", "ac"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
