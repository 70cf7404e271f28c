//! What personal data looks like.

use std::ops::Range;

use regex::Regex;

/// What one kind of personal data looks like: a name, a pattern, and a check of what matches.
#[derive(Clone, Debug)]
pub struct PiiDetector {
    name: String,
    pattern: Result<Regex, InvalidPattern>,
    check: fn(&str) -> bool,
    longest: usize,
}

/// The error if a pattern is not a regular expression.
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidPattern(String);

impl std::fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidPattern {}

langgraph::debug_is_message!(InvalidPattern);

const EMAIL: &str = r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b";
const CARD: &str = r"\b\d(?:[ -]?\d){12,18}\b";
const IPV4: &str = r"\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b";
const MAC: &str = r"\b[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}\b";
const URL: &str = r#"\bhttps?://[^\s<>"]+"#;

impl PiiDetector {
    /// Addresses of mail.
    pub fn email() -> Self {
        Self::built_in("email", EMAIL, 320)
    }

    /// Numbers of credit cards, whose check digit is right.
    pub fn credit_card() -> Self {
        Self {
            check: luhn,
            ..Self::built_in("credit_card", CARD, 40)
        }
    }

    /// IPv4 addresses.
    pub fn ip() -> Self {
        Self::built_in("ip", IPV4, 16)
    }

    /// Hardware addresses of network cards.
    pub fn mac_address() -> Self {
        Self::built_in("mac_address", MAC, 18)
    }

    /// Addresses of web pages.
    pub fn url() -> Self {
        Self::built_in("url", URL, 2_048)
    }

    /// What matches a regular expression, in up to 256 bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`] if it is not one.
    pub fn pattern(name: impl Into<String>, pattern: &str) -> Result<Self, InvalidPattern> {
        let pattern = compiled(pattern)?;
        Ok(Self {
            name: name.into(),
            pattern: Ok(pattern),
            check: |_| true,
            longest: 256,
        })
    }

    /// Sets how many bytes a match has at most: as much of a streamed answer is held back.
    #[must_use]
    pub fn longest(mut self, bytes: usize) -> Self {
        self.longest = bytes;
        self
    }

    /// Only takes matches for which `check` returns true.
    #[must_use]
    pub fn check(mut self, check: fn(&str) -> bool) -> Self {
        self.check = check;
        self
    }

    fn built_in(name: &str, pattern: &str, longest: usize) -> Self {
        Self {
            name: name.to_owned(),
            pattern: compiled(pattern),
            check: |_| true,
            longest,
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn longest_match(&self) -> usize {
        self.longest
    }

    /// Returns the places of all matches in a text.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let Ok(pattern) = &self.pattern else {
            return Vec::new();
        };
        let matches = pattern.find_iter(text);
        let right = matches.filter(|found| (self.check)(found.as_str()));
        right.map(|found| found.range()).collect()
    }
}

fn compiled(pattern: &str) -> Result<Regex, InvalidPattern> {
    Regex::new(pattern).map_err(|error| InvalidPattern(error.to_string()))
}

/// Returns true if the check digit of a card's number is right.
fn luhn(number: &str) -> bool {
    let digits = number.chars().rev().filter_map(|c| c.to_digit(10));
    let sum: u32 = digits
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => digit,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    sum.is_multiple_of(10)
}
