//! What happens to personal data.

use std::fmt::{self, Write as _};
use std::ops::Range;

use super::PiiDetector;

/// What happens to personal data that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PiiStrategy {
    /// A label takes its place: `[REDACTED_EMAIL]`.
    Redact,
    /// Stars take the place of letters and digits, but for the last four.
    Mask,
    /// A digest takes its place, so that equal data stays equal: `<email_hash:9f86d081>`.
    Hash,
    /// The run fails. What the user has said stays in the thread, and later runs go on with a label in place of the data;
    /// what a tool has returned gets the label at once.
    Block,
}

/// The error if personal data was found that is [blocked](PiiStrategy::Block).
#[derive(Clone, PartialEq, Eq)]
pub struct PiiFound(String);

impl PiiFound {
    pub(super) fn new(kind: &str) -> Self {
        Self(kind.to_owned())
    }

    /// Returns the kind of data.
    pub(super) fn kind(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PiiFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the chat has personal data of the kind `{}`, which is blocked; remove it, or hide it with another `PiiStrategy`",
            self.0
        )
    }
}

impl std::error::Error for PiiFound {}

langgraph::debug_is_message!(PiiFound);

/// The kinds of data, and what happens to each.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules(pub(super) Vec<(PiiDetector, PiiStrategy)>);

impl Rules {
    /// Returns the text without personal data.
    pub(super) fn apply(&self, text: &str) -> Result<String, PiiFound> {
        let mut clean = String::with_capacity(text.len());
        let mut from = 0;
        for (place, rule) in self.find(text) {
            let (detector, strategy) = rule;
            clean.push_str(text.get(from..place.start).unwrap_or_default());
            let found = text.get(place.clone()).unwrap_or_default();
            strategy.replace(detector, found, &mut clean)?;
            from = place.end;
        }
        clean.push_str(text.get(from..).unwrap_or_default());
        Ok(clean)
    }

    /// Returns the matches in their order, without overlaps, and none in what has taken the place of data before.
    pub(super) fn find(&self, text: &str) -> Vec<(Range<usize>, &(PiiDetector, PiiStrategy))> {
        let mut found: Vec<(Range<usize>, &(PiiDetector, PiiStrategy))> = Vec::new();
        let labels = self.labels(text);
        for rule in &self.0 {
            for place in rule.0.find(text) {
                let overlaps =
                    |known: &Range<usize>| known.start < place.end && place.start < known.end;
                let mut known = found.iter().map(|(known, _)| known).chain(&labels);
                if !known.any(overlaps) {
                    found.push((place, rule));
                }
            }
        }
        found.sort_by_key(|(place, _)| place.start);
        found
    }

    /// Returns where labels and digests stand that have taken the place of data.
    fn labels(&self, text: &str) -> Vec<Range<usize>> {
        let mut labels = Vec::new();
        for (detector, strategy) in &self.0 {
            let (start, rest) = match strategy {
                PiiStrategy::Redact | PiiStrategy::Block => (redacted(detector.name()), 0),
                PiiStrategy::Hash => (digest_start(detector.name()), 2 * DIGEST + 1),
                PiiStrategy::Mask => continue,
            };
            for (at, label) in text.match_indices(&*start) {
                let digest = at + label.len();
                let end = digest + rest;
                let is_digest = |rest: &str| match rest.strip_suffix('>') {
                    Some(digits) => digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
                    None => rest.is_empty(),
                };
                if text.get(digest..end).is_some_and(is_digest) {
                    labels.push(at..end);
                }
            }
        }
        labels
    }

    /// Returns how long a match can be.
    pub(super) fn longest(&self) -> usize {
        let longest = self.0.iter().map(|(detector, _)| detector.longest_match());
        longest.max().unwrap_or_default()
    }
}

fn redacted(name: &str) -> String {
    format!("[REDACTED_{}]", name.to_uppercase())
}

fn digest_start(name: &str) -> String {
    format!("<{name}_hash:")
}

/// The bytes of a digest that are shown.
const DIGEST: usize = 4;

impl PiiStrategy {
    /// Returns what hides data instead of blocking it.
    pub(super) const fn hiding(self) -> Self {
        match self {
            Self::Block => Self::Redact,
            other => other,
        }
    }

    fn replace(
        self,
        detector: &PiiDetector,
        found: &str,
        clean: &mut String,
    ) -> Result<(), PiiFound> {
        let name = detector.name();
        match self {
            Self::Redact => {
                clean.push_str(&redacted(name));
            }
            Self::Mask => {
                let signs = found.chars().filter(|c| c.is_alphanumeric()).count();
                let mut hidden = signs.saturating_sub(4);
                // Short data is hidden as a whole.
                if signs <= 4 {
                    hidden = signs;
                }
                for c in found.chars() {
                    let hides = c.is_alphanumeric() && hidden > 0;
                    hidden -= usize::from(hides);
                    clean.push(if hides { '*' } else { c });
                }
            }
            Self::Hash => {
                clean.push_str(&digest_start(name));
                let digest = hmac_sha256::Hash::hash(found.as_bytes());
                for byte in digest.iter().take(DIGEST) {
                    let _ = write!(clean, "{byte:02x}"); // writing to a String never fails
                }
                clean.push('>');
            }
            Self::Block => return Err(PiiFound::new(name)),
        }
        Ok(())
    }
}
