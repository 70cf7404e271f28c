//! Places in a value: `values.messages[-1].content`.

use serde_json::Value;

use crate::error::{ApiError, ApiResult};

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    /// Negative: from the end.
    Index(i64),
}

/// Reads a path.
pub(super) fn parse(path: &str) -> ApiResult<Vec<Step>> {
    let wrong = || ApiError::invalid(format!("'{path}' is no path: keys, dots, and [numbers]"));
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (key, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        if key.is_empty() && (indices.is_empty() || steps.is_empty()) {
            return Err(wrong());
        }
        if !key.is_empty() {
            steps.push(Step::Key(key.to_owned()));
        }
        let mut rest = indices;
        while let Some(open) = rest.strip_prefix('[') {
            let (number, after) = open.split_once(']').ok_or_else(wrong)?;
            steps.push(Step::Index(number.parse().map_err(|_| wrong())?));
            rest = after;
        }
        if !rest.is_empty() {
            return Err(wrong());
        }
    }
    Ok(steps)
}

/// Returns what is there; null without it.
pub(super) fn find(value: &Value, path: &[Step]) -> Value {
    let found = path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => {
            let list = value.as_array()?;
            let length = i64::try_from(list.len()).ok()?;
            let index = if *index < 0 { length + index } else { *index };
            list.get(usize::try_from(index).ok()?)
        }
    });
    found.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn l1_paths_name_keys_and_indices() {
        let value = json!({"values": {"m": [{"c": 1}, {"c": 2}], "n": [[3, 4]]}});
        let at = |path: &str| find(&value, &parse(path).unwrap());
        assert_eq!(at("values.m[-1].c"), 2);
        assert_eq!(at("values.m[0]"), json!({"c": 1}));
        assert_eq!(at("values.n[0][1]"), 4);
        assert_eq!(at("values.m[7].c"), json!(null));
        assert_eq!(at("values.m[-3]"), json!(null));
        for wrong in ["", ".", "a..b", "a[", "a[x]", "a[1]b", "[0]"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
