//! Paths to parts of a value.

use std::fmt;

use serde_json::Value;

use crate::StoreError;

/// A path to a part of a value: `name`, `address.city`, `tags[0]`, `tags[-1]` (the last element),
/// `tags[*]` (each element), `$` (the whole value).
///
/// Text converts with [`From`]; an invalid path is an error when it is used. For keys with dots or
/// brackets, use [`keys`](Self::keys).
///
/// # Examples
///
/// ```
/// use langgraph_store::FieldPath;
/// use serde_json::json;
///
/// let value = json!({"chapters": [{"title": "One"}, {"title": "Two"}]});
/// let titles = FieldPath::from("chapters[*].title");
/// assert_eq!(titles.find(&value), [&json!("One"), &json!("Two")]);
/// assert_eq!(FieldPath::from("chapters[-1].title").find(&value), [&json!("Two")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath {
    text: String,
    /// `None` if the text is not a path.
    segments: Option<Vec<Segment>>,
}

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// An object's value by key.
    Key(String),
    /// An array's element, counted from its beginning.
    Index(u32),
    /// An array's element, counted from its end; 0 is the last one.
    Back(u32),
    /// All elements of an array.
    Each,
}

impl FieldPath {
    /// Returns the path of the whole value.
    pub fn whole() -> Self {
        "$".into()
    }

    /// Creates a path of keys, which may hold any characters.
    pub fn keys<T: Into<String>>(keys: impl IntoIterator<Item = T>) -> Self {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        Self {
            text: keys.join("."),
            segments: Some(keys.into_iter().map(Segment::Key).collect()),
        }
    }

    /// Returns the steps of the path.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidPath`] if the text is not a path.
    pub fn segments(&self) -> Result<&[Segment], StoreError> {
        match &self.segments {
            Some(segments) => Ok(segments),
            None => Err(StoreError::InvalidPath(self.clone())),
        }
    }

    /// Returns the parts of `value` at the path: at most one, unless it holds `[*]`.
    pub fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        let Some(segments) = &self.segments else {
            return Vec::new();
        };
        for segment in segments {
            found = found.into_iter().flat_map(|at| segment.of(at)).collect();
        }
        found
    }
}

impl Segment {
    fn of<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let array = value.as_array();
        let at = |index: usize| array.and_then(|array| array.get(index));
        let found = match self {
            Self::Key(key) => value.as_object().and_then(|object| object.get(key)),
            Self::Index(index) => at(*index as usize),
            Self::Back(back) => array
                .and_then(|array| array.len().checked_sub(*back as usize + 1))
                .and_then(at),
            Self::Each => return array.into_iter().flatten().collect(),
        };
        found.into_iter().collect()
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&str> for FieldPath {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            segments: parse(text),
        }
    }
}

impl From<String> for FieldPath {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&Self> for FieldPath {
    fn from(path: &Self) -> Self {
        path.clone()
    }
}

fn parse(text: &str) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    let mut rest = match text.strip_prefix('$') {
        // `$`, `$.name` and `$[0]`; but `$name` is a key.
        Some("") => return Some(segments),
        Some(rest) if rest.starts_with('[') => rest,
        Some(rest) => rest.strip_prefix('.').unwrap_or(text),
        None => text,
    };
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        if key.contains([']', '\0']) || (key.is_empty() && !after.starts_with('[')) {
            return None;
        }
        if !key.is_empty() {
            segments.push(Segment::Key(key.to_owned()));
        }
        rest = after;
        while let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']')?;
            segments.push(index(inside)?);
            rest = after;
        }
        if rest.is_empty() {
            return Some(segments);
        }
        rest = rest.strip_prefix('.')?;
        // `a.[0]` is a mistake.
        if rest.starts_with('[') {
            return None;
        }
    }
}

fn index(text: &str) -> Option<Segment> {
    let number = |digits: &str| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse::<u32>().ok()).flatten()
    };
    match (text, text.strip_prefix('-')) {
        ("*", _) => Some(Segment::Each),
        (_, Some(back)) => Some(Segment::Back(number(back)?.checked_sub(1)?)),
        (_, None) => Some(Segment::Index(number(text)?)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_read_and_followed() {
        let value = json!({
            "a": {"b": [10, 20, 30], "c.d": 1},
            "list": [{"x": 1}, {"y": 2}, {"x": [3]}],
            "$": "dollar", "nested": [[1, 2], [3]],
        });
        let found = |path: &str| {
            let found = FieldPath::from(path).find(&value).into_iter().cloned();
            Value::Array(found.collect())
        };
        assert_eq!(found("a.b[0]"), json!([10]));
        assert_eq!(found("$.a.b[-1]"), json!([30]));
        assert_eq!(found("a.b[-3]"), json!([10]));
        assert_eq!(found("a.b[-4]"), json!([]));
        assert_eq!(found("a.b[3]"), json!([]));
        assert_eq!(found("list[*].x"), json!([1, [3]]));
        assert_eq!(found("nested[*][*]"), json!([1, 2, 3]));
        assert_eq!(found("a[*]"), json!([]));
        assert_eq!(found("a.b.c"), json!([]));
        assert_eq!(found("$"), json!([value]));
        let keys = FieldPath::keys(["a", "c.d"]);
        assert_eq!(keys.find(&value), [&json!(1)]);
        assert_eq!(FieldPath::keys(["$"]).find(&value), [&json!("dollar")]);
    }

    #[test]
    fn what_is_no_path_is_an_error() {
        for text in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "a[",
            "a[]",
            "a[x]",
            "a[1",
            "a]",
            "a[-0]",
            "a[0]b",
            "a.[0]",
            "$.",
            "a[+1]",
            "a\0",
            "a[99999999999]",
        ] {
            let path = FieldPath::from(text);
            let error = path.segments().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` is no field path")),
                "{error}"
            );
        }
    }
}
