//! The channels that a client subscribes to.

use serde::Deserialize;

use crate::error::{ApiError, ApiResult};

const CHANNELS: [&str; 9] = [
    "values",
    "updates",
    "messages",
    "tools",
    "custom",
    "lifecycle",
    "input",
    "tasks",
    "checkpoints",
];

/// The request for a stream of events.
#[derive(Clone, Debug, Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the interface
pub(crate) struct Channels {
    channels: Vec<String>,
    namespaces: Option<Vec<Vec<String>>>,
    depth: Option<usize>,
    /// The number of the last event that the client has seen.
    pub(crate) since: Option<i64>,
}

impl Channels {
    /// Refuses channels that do not exist.
    pub(crate) fn checked(self) -> ApiResult<Self> {
        let known = |name: &String| CHANNELS.contains(&&**name) || name.starts_with("custom:");
        let unknown: Vec<&str> = self
            .channels
            .iter()
            .filter(|name| !known(name))
            .map(String::as_str)
            .collect();
        if unknown.is_empty() && !self.channels.is_empty() {
            return Ok(self);
        }
        Err(ApiError::bad_request(format!(
            "channels contains unsupported entries: {}. Allowed: {}, or any `custom:<name>`.",
            unknown.join(", "),
            CHANNELS.join(", ")
        )))
    }

    /// Returns true if the client wants an event of that method in that namespace.
    pub(super) fn want(&self, method: &str, name: Option<&str>, namespace: &[String]) -> bool {
        let channel = match method {
            "input.requested" => "input",
            method => method,
        };
        let named = |wanted: &String| {
            wanted == channel
                || (channel == "custom" && wanted.strip_prefix("custom:") == name && name.is_some())
        };
        self.channels.iter().any(named) && self.has_namespace(namespace)
    }

    fn has_namespace(&self, namespace: &[String]) -> bool {
        let Some(prefixes) = &self.namespaces else {
            return self.depth.is_none_or(|depth| namespace.len() <= depth);
        };
        prefixes.iter().any(|prefix| {
            namespace.len() >= prefix.len()
                && prefix
                    .iter()
                    .zip(namespace)
                    .all(|(wanted, part)| fits(wanted, part))
                && self
                    .depth
                    .is_none_or(|depth| namespace.len() - prefix.len() <= depth)
        })
    }
}

/// A part of a namespace is `node:task`; the node alone stands for all of its tasks.
fn fits(wanted: &str, part: &str) -> bool {
    wanted == part || part.split_once(':').is_some_and(|(node, _)| node == wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_gets_its_channels_in_its_namespaces() {
        let of = |value| serde_json::from_value::<Channels>(value).unwrap().checked();
        let inner = ["inner:1".to_owned()];
        let all = of(json!({"channels": ["values", "custom:a"]})).unwrap();
        assert!(all.want("values", None, &inner) && !all.want("messages", None, &[]));
        assert!(all.want("custom", Some("a"), &[]) && !all.want("custom", None, &[]));
        let part = of(json!({"channels": ["values"], "namespaces": [["inner"]], "depth": 0}));
        let part = part.unwrap();
        assert!(part.want("values", None, &inner) && !part.want("values", None, &[]));
        let deeper = ["inner:1".to_owned(), "x:2".to_owned()];
        assert!(!part.want("values", None, &deeper));
        let flat = of(json!({"channels": ["values"], "namespaces": [[]], "depth": 1})).unwrap();
        assert!(flat.want("values", None, &[]) && flat.want("values", None, &inner));
        assert!(!flat.want("values", None, &deeper));
        assert!(of(json!({"channels": ["nope"]})).is_err());
    }
}
