//! Namespaces as text.
//!
//! A namespace is the JSON array of its labels. Labels are quoted, so exactly the namespaces below
//! `["a"]` begin with `["a",`: they form a range of the index, in byte order.

use langgraph_store::{Label, ListNamespaces, Namespace, StoreError};

/// Returns the stored text of a namespace.
pub fn namespace_text(namespace: &Namespace) -> String {
    labels_text(namespace.labels())
}

/// Parses the stored text of a namespace.
///
/// # Errors
///
/// [`StoreError::Storage`] if the text is not a namespace.
pub fn read_namespace(text: &str) -> Result<Namespace, StoreError> {
    serde_json::from_str(text).map_err(StoreError::storage)
}

fn labels_text(labels: &[String]) -> String {
    serde_json::Value::from(labels).to_string()
}

/// A namespace and everything below it, as a range of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceRange {
    /// The text of the namespace itself.
    pub here: String,
    /// The texts below it are this one or greater,
    pub from: String,
    /// and less than this one.
    pub to: String,
}

impl NamespaceRange {
    /// Returns the range of a namespace; `None` without labels, which means everything.
    pub fn of(labels: &[String]) -> Option<Self> {
        if labels.is_empty() {
            return None;
        }
        let here = labels_text(labels);
        let open = here.strip_suffix(']').unwrap_or(&here);
        Some(Self {
            from: format!("{open},"),
            // `-` is the character after the comma.
            to: format!("{open}-"),
            here,
        })
    }
}

/// Returns the labels with which every requested namespace begins.
pub fn certain_labels(wanted: &ListNamespaces) -> Vec<String> {
    let certain = wanted.prefix.iter().map_while(|label| match label {
        Label::Is(label) => Some(label.clone()),
        Label::Any => None,
    });
    certain.collect()
}

#[cfg(test)]
mod tests {
    use super::NamespaceRange;

    #[test]
    fn a_range_holds_what_is_below_and_nothing_beside() {
        let range = NamespaceRange::of(&["a".to_owned()]).unwrap();
        let below = |text: &str| *text >= *range.from && *text < *range.to;
        assert_eq!(range.here, r#"["a"]"#);
        assert!(below(r#"["a","b"]"#) && below(r#"["a","b","c"]"#));
        for beside in [r#"["a"]"#, r#"["ab"]"#, r#"["a-","b"]"#, r#"["b"]"#] {
            assert!(!below(beside), "{beside}");
        }
        assert_eq!(NamespaceRange::of(&[]), None);
    }
}
