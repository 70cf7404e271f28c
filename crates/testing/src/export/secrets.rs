//! Secrets in what is exported.

use std::sync::LazyLock;

use langgraph_agent::ChatRequest;
use regex::{Captures, Regex};
use serde_json::Value;

/// What stands in the place of a secret.
pub(super) const CLEANED: &str = "[secret]";

/// The forms of keys and tokens. A group `keep` stays.
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

static KNOWN: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| Regex::new(FORMS));

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

/// The secrets of a thread.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn add(&mut self, secret: String) {
        if !secret.is_empty() && secret != CLEANED {
            self.0.push(secret);
        }
    }

    /// Finds the texts of fields that have the name of a secret.
    pub(super) fn find(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                for (name, value) in object {
                    match value {
                        Value::String(text) if is_secret(name) => self.add(text.clone()),
                        value => self.find(value),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.find(value)),
            _ => {}
        }
    }

    /// Takes the secrets out of all texts of a value, wherever they are.
    pub(super) fn clean(&mut self, value: &mut Value) {
        // One that is part of another one comes after it, or leaves the rest of it.
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        self.clean_texts(value);
    }

    fn clean_texts(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.cleaned(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.clean_texts(value)),
            Value::Object(object) => object
                .values_mut()
                .for_each(|value| self.clean_texts(value)),
            _ => {}
        }
    }

    fn cleaned(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            if text.contains(secret) {
                text = text.replace(secret, CLEANED);
            }
        }
        match &*KNOWN {
            Ok(known) => known.replace_all(&text, mask).into_owned(),
            // The tests compile it.
            Err(_) => CLEANED.to_owned(),
        }
    }
}

/// Takes keys and tokens out of a request: the same when it is recorded and when it is compared.
pub(super) fn cleaned(request: ChatRequest) -> ChatRequest {
    let Ok(mut value) = serde_json::to_value(&request) else {
        return request;
    };
    Secrets::default().clean(&mut value);
    serde_json::from_value(value).unwrap_or(request)
}

fn mask(found: &Captures<'_>) -> String {
    let part = |name| found.name(name).map_or("", |part| part.as_str());
    let before = [part("scheme"), part("user")].concat();
    [&before, CLEANED, part("at")].concat()
}

fn is_secret(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    NAMES.contains(&&*name.to_ascii_lowercase())
}
