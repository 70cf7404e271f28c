//! Truth in queries.

/// Returns true for the words that say so. Clients write numbers for truth, too.
pub(crate) fn is_true(word: &str) -> bool {
    matches!(word, "1" | "true" | "True")
}
