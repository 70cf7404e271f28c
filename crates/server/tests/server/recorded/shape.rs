//! What an answer says, as lines that can be compared: a path and a value each, without ids and times.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The lines of an answer.
pub(crate) type Shape = BTreeSet<(String, String)>;

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns true for a UUID, as text.
fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(|p| is_hex(p))
}

pub(crate) fn is_id(text: &str) -> bool {
    is_uuid(text)
        || (text.len() == 32 && is_hex(text))
        || text.starts_with("lc_run--")
        || text.starts_with("run--")
}

/// Returns true for the id of an event: milliseconds, and a number.
fn is_event_id(text: &str) -> bool {
    let parts = text.split_once('-');
    parts.is_some_and(|(ms, number)| {
        ms.len() == 13 && ms.parse::<u64>().is_ok() && number.parse::<u64>().is_ok()
    })
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.starts_with("20") && bytes.get(4) == Some(&b'-') && bytes.get(10) == Some(&b'T')
}

/// Replaces ids and times in a text.
pub(crate) fn plain(text: &str) -> String {
    if is_id(text) || is_event_id(text) {
        return "{id}".to_owned();
    }
    if is_time(text) {
        return "{time}".to_owned();
    }
    let mut out = String::new();
    let mut word = String::new();
    let end = |word: &mut String, out: &mut String| {
        out.push_str(if is_id(word) { "{id}" } else { word });
        word.clear();
    };
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || letter == '-' {
            word.push(letter);
        } else {
            end(&mut word, &mut out);
            out.push(letter);
        }
    }
    end(&mut word, &mut out);
    out
}

/// Adds the lines of a value.
pub(crate) fn lines(at: &str, value: &Value, into: &mut Shape) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                lines(&format!("{at}.{}", plain(name)), value, into);
            }
        }
        Value::Array(entries) if !entries.is_empty() => {
            for value in entries {
                lines(&format!("{at}[]"), value, into);
            }
        }
        Value::String(text) => {
            into.insert((at.to_owned(), format!("{:?}", plain(text))));
        }
        // How far a run was at the time of the request.
        Value::Number(_) if at.ends_with(":.i") => {
            into.insert((at.to_owned(), "{number}".to_owned()));
        }
        Value::Number(number) if number.as_f64().is_some_and(|number| number > 1e11) => {
            into.insert((at.to_owned(), "{ms}".to_owned()));
        }
        other => {
            into.insert((at.to_owned(), other.to_string()));
        }
    }
}

/// Returns what the reference says and we do not (`-`), and the other way round (`+`). A path that
/// both have with other values is one line (`~`).
pub(crate) fn differences(theirs: &Shape, ours: &Shape) -> Vec<String> {
    let mut by_path: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for (path, value) in theirs.difference(ours) {
        by_path.entry(path).or_default().0.push(value);
    }
    for (path, value) in ours.difference(theirs) {
        by_path.entry(path).or_default().1.push(value);
    }
    let line = |(path, (theirs, ours)): (&str, (Vec<&str>, Vec<&str>))| {
        let (theirs, ours) = (theirs.join(" | "), ours.join(" | "));
        match (theirs.is_empty(), ours.is_empty()) {
            (false, true) => format!("- {path} = {theirs}"),
            (true, false) => format!("+ {path} = {ours}"),
            _ => format!("~ {path} = {theirs} -> {ours}"),
        }
    };
    by_path.into_iter().map(line).collect()
}
