//! Secrets in what is exported.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use langgraph_agent::ChatRequest;
use regex_lite::{Captures, Regex};
use serde_json::{Map, Value};

/// What stands in the place of the first secret.
const CLEANED: &str = "[secret]";

/// The forms of keys and tokens. What is in a group stays.
const FORMS: &str = r"(?x)
    -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[\s\S]*?-----END\ [A-Z\ ]*PRIVATE\ KEY-----
    | \b (?: sk | pk | rk ) [-_] [A-Za-z0-9_-]{16,}
    | \b gh[opsur]_ [A-Za-z0-9]{20,}
    | \b github_pat_ \w{20,}
    | \b glpat- [\w-]{16,}
    | \b xox[abeprs]- [\w-]{10,}
    | \b (?: AKIA | ASIA ) [A-Z0-9]{16} \b
    | \b AIza [\w-]{30,}
    | \b (?: hf | npm ) _ [A-Za-z0-9]{16,}
    | \b eyJ [\w-]{8,} \. [\w-]{8,} \. [\w-]*
    | (?P<scheme> (?i: bearer | basic ) \s+ ) [A-Za-z0-9._~+/-]{16,} =*
    | (?P<user> :// [^\s/:@]* : ) [^\s/@]+ (?P<at> @ )
";

static KNOWN: LazyLock<Result<Regex, regex_lite::Error>> = LazyLock::new(|| Regex::new(FORMS));

/// The fields of records that hold data. The other texts of a record are names of nodes, ids and times.
const DATA: [&str; 5] = ["failed", "key", "metadata", "payload", "value"];

/// Names of fields whose texts are secrets, without case, `-` and `_`.
const NAMES: [&str; 18] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "authorization",
    "authtoken",
    "clientsecret",
    "cookie",
    "credentials",
    "idtoken",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "secretkey",
    "setcookie",
    "xapikey",
];

/// The secrets of a thread. Each has a mark of its own, so that what was different stays different.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    texts: Vec<String>,
    /// The fields of the state, which keep their names.
    fields: BTreeSet<String>,
    /// What was taken out, in the order of the marks.
    marked: Vec<String>,
}

impl Secrets {
    pub(super) fn add(&mut self, secret: String) {
        if !secret.is_empty() && !is_mark(&secret) {
            self.texts.push(secret);
        }
    }

    /// Keeps these keys of maps: the fields of the state.
    pub(super) fn keep_fields<'f>(&mut self, fields: impl IntoIterator<Item = &'f str>) {
        self.fields.extend(fields.into_iter().map(str::to_owned));
    }

    /// Finds the texts of fields that have the name of a secret, also in texts that are JSON.
    pub(super) fn find(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                for (name, value) in object {
                    if is_secret(name) {
                        self.add_texts(value);
                    }
                    self.find(value);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.find(value)),
            Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                if let Ok(value) = serde_json::from_str(text) {
                    self.find(&value);
                }
            }
            _ => {}
        }
    }

    /// Adds a text, or the texts of a list.
    fn add_texts(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| self.add_texts(value)),
            _ => {}
        }
    }

    /// Takes the secrets out of the data of records.
    pub(super) fn clean_records(&mut self, records: &mut Value) {
        match records {
            Value::Array(values) => values
                .iter_mut()
                .for_each(|value| self.clean_records(value)),
            Value::Object(object) => {
                for (name, value) in object {
                    if DATA.contains(&&**name) {
                        self.clean(value);
                    } else {
                        self.clean_records(value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Takes the secrets out of all texts of a value, and out of the keys of its maps.
    pub(super) fn clean(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.cleaned(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.clean(value)),
            Value::Object(object) => {
                for (key, mut value) in std::mem::take(object) {
                    self.clean(&mut value);
                    let key = self.cleaned_key(key, object);
                    object.insert(key, value);
                }
            }
            _ => {}
        }
    }

    /// Returns the key without secrets, and unlike those of `object`: no entry gets lost.
    fn cleaned_key(&mut self, key: String, object: &Map<String, Value>) -> String {
        if self.fields.contains(&key) {
            return key;
        }
        let cleaned = self.cleaned(&key);
        let mut free = cleaned.clone();
        let mut number = 1;
        while free != key && object.contains_key(&free) {
            number += 1;
            free = format!("{cleaned}-{number}");
        }
        free
    }

    /// Returns the text without its secrets.
    pub(super) fn cleaned(&mut self, text: &str) -> String {
        let Ok(known) = &*KNOWN else {
            // The tests compile it.
            return CLEANED.to_owned();
        };
        let named = self.texts.iter().flat_map(|secret| {
            let found = text.match_indices(&**secret);
            found.map(|(at, secret)| at..at + secret.len())
        });
        let known = known.captures_iter(text).filter_map(|found| span(&found));
        let mut spans: Vec<Range<usize>> = named.chain(known).collect();
        if spans.is_empty() {
            return text.to_owned();
        }
        spans.sort_by_key(|span| (span.start, span.end));
        spans.dedup_by(|next, span| {
            let overlaps = next.start < span.end;
            if overlaps {
                span.end = span.end.max(next.end);
            }
            overlaps
        });
        let (mut cleaned, mut end) = (String::new(), 0);
        for span in spans {
            cleaned += text.get(end..span.start).unwrap_or_default();
            cleaned += &self.mark(text.get(span.clone()).unwrap_or_default());
            end = span.end;
        }
        cleaned + text.get(end..).unwrap_or_default()
    }

    /// Returns the request without its secrets.
    pub(super) fn cleaned_request(
        &mut self,
        request: &ChatRequest,
    ) -> Result<ChatRequest, serde_json::Error> {
        let mut value = serde_json::to_value(request)?;
        self.clean(&mut value);
        serde_json::from_value(value)
    }

    /// Returns what stands in the place of this secret.
    fn mark(&mut self, secret: &str) -> String {
        if is_mark(secret) {
            return secret.to_owned();
        }
        let known = self.marked.iter().position(|known| known == secret);
        let index = known.unwrap_or_else(|| {
            self.marked.push(secret.to_owned());
            self.marked.len() - 1
        });
        match index {
            0 => CLEANED.to_owned(),
            index => format!("[secret-{}]", index + 1),
        }
    }
}

/// Takes keys and tokens out of a request: the same when it is recorded and when it is compared.
pub(super) fn cleaned(request: ChatRequest) -> ChatRequest {
    let cleaned = Secrets::default().cleaned_request(&request);
    cleaned.unwrap_or(request)
}

/// Returns where the secret is in what has a known form.
fn span(found: &Captures<'_>) -> Option<Range<usize>> {
    let whole = found.get(0)?;
    let before = found.name("scheme").or(found.name("user"));
    let start = before.map_or(whole.start(), |before| before.end());
    let end = found.name("at").map_or(whole.end(), |at| at.start());
    Some(start..end)
}

fn is_mark(text: &str) -> bool {
    let number = text
        .strip_prefix("[secret")
        .and_then(|rest| rest.strip_suffix(']'));
    number.is_some_and(|number| {
        let digits = number.strip_prefix('-').unwrap_or(number);
        digits.chars().all(|c| c.is_ascii_digit())
    })
}

fn is_secret(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    NAMES.contains(&&*name.to_ascii_lowercase())
}
