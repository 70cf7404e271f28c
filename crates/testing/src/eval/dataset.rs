//! Cases to evaluate.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One case: an input, and what is expected of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Case {
    /// Its name; the number of its line, unless it has one.
    #[serde(default)]
    pub id: String,
    /// The input.
    pub input: Value,
    /// What is expected; the scorers know how to read it.
    #[serde(default)]
    pub expected: Value,
    /// Groups that it belongs to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// Cases, from a file with a JSON object in each line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dataset {
    cases: Vec<Case>,
}

/// Why a data set cannot be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The file cannot be read.
    #[error("the data set cannot be read: {0}")]
    File(#[from] std::io::Error),
    /// A line is not a case.
    #[error("line {line} of the data set is not a case: {source}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// Two cases have the same id.
    #[error("line {line} of the data set has the id `{id}` of another case")]
    Twice {
        /// The line, from 1.
        line: usize,
        /// The id.
        id: String,
    },
}

impl Dataset {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`DatasetError`], with the line.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DatasetError> {
        Self::parse(&std::fs::read_to_string(path)?)
    }

    /// Reads the lines of a text. Empty lines do not count.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn parse(text: &str) -> Result<Self, DatasetError> {
        let mut cases: Vec<Case> = Vec::new();
        let mut ids = HashSet::new();
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim().is_empty() {
                continue;
            }
            let case = serde_json::from_str(text);
            let mut case: Case = case.map_err(|source| DatasetError::Line { line, source })?;
            if case.id.is_empty() {
                case.id = line.to_string();
            }
            if !ids.insert(case.id.clone()) {
                return Err(DatasetError::Twice { line, id: case.id });
            }
            cases.push(case);
        }
        Ok(Self { cases })
    }

    /// Returns the SHA-256 digest of the cases.
    pub fn digest(&self) -> String {
        digest(&self.cases)
    }

    /// Returns the cases.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Keeps the cases with that tag.
    #[must_use]
    pub fn tagged(mut self, tag: &str) -> Self {
        self.cases
            .retain(|case| case.tags.iter().any(|known| known == tag));
        self
    }
}

impl Case {
    /// Returns the SHA-256 digest of the input and of what is expected.
    pub(super) fn digest(&self) -> String {
        digest(&(&self.input, &self.expected))
    }
}

fn digest(value: &impl Serialize) -> String {
    let text = serde_json::to_vec(value).unwrap_or_default();
    let mut hex = String::new();
    for byte in hmac_sha256::Hash::hash(&text) {
        let _ = write!(hex, "{byte:02x}"); // writing to a String never fails
    }
    hex
}

langgraph_core::debug_is_message!(DatasetError);
