//! Namespaces of the store in an address.

/// Reads a namespace: its labels with periods between them, or their list as JSON. Only the list has a form for a label
/// with a period, such as an e-mail address.
pub(crate) fn labels(given: &str) -> Vec<String> {
    if given.starts_with('[')
        && let Ok(labels) = serde_json::from_str(given)
    {
        return labels;
    }
    let labels = given.split('.');
    let labels = labels.filter(|label| !label.is_empty());
    labels.map(str::to_owned).collect()
}
