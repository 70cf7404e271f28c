//! "Did you mean": finds the intended name.

/// Returns the candidate that `name` probably means.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let mut nearest: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = edit_distance(name, candidate);
        let is_near = distance <= limit && distance < candidate.chars().count();
        if candidate != name && is_near && nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, candidate));
        }
    }
    nearest.map(|(_, candidate)| candidate)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous_char = None;
    for (row, a_char) in a.to_lowercase().chars().enumerate() {
        let mut current = vec![row + 1];
        let mut previous_b = None;
        for (column, &b_char) in b.iter().enumerate() {
            let cell = |line: &[usize], at: usize| line.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut best = (cell(&last, column) + usize::from(a_char != b_char))
                .min(cell(&last, column + 1) + 1)
                .min(cell(&current, column) + 1);
            if previous_char == Some(b_char) && previous_b == Some(a_char) {
                best = best.min(cell(&before_last, column.wrapping_sub(1)) + 1);
            }
            current.push(best);
            previous_b = Some(b_char);
        }
        previous_char = Some(a_char);
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_candidate_is_suggested_and_a_far_one_is_not() {
        let names = ["search", "tools", "call_model"];
        assert_eq!(did_you_mean("serach", names), Some("search"));
        assert_eq!(did_you_mean("call_modle", names), Some("call_model"));
        assert_eq!(did_you_mean("Tools", names), Some("tools"));
        assert_eq!(did_you_mean("planner", names), None);
        assert_eq!(did_you_mean("search", ["search"]), None);
    }

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        assert_eq!(edit_distance("ab", "ba"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
