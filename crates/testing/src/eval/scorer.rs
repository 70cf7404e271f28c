//! How good an answer is.

mod judge;

use std::fmt;

use langgraph::error::NodeError;
use langgraph::node::Context;
use langgraph_agent::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::text;
use super::{Answer, Case};

pub use judge::{Judge, judge};

/// How good an answer is: from 0, wrong, to 1, right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// The value.
    pub value: f64,
    /// Why, if there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Score {
    /// Creates a score, between 0 and 1.
    pub fn new(value: f64) -> Self {
        Self {
            value: if value.is_nan() {
                0.0
            } else {
                value.clamp(0.0, 1.0)
            },
            reason: None,
        }
    }

    /// Says why.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

impl From<bool> for Score {
    fn from(right: bool) -> Self {
        Self::new(if right { 1.0 } else { 0.0 })
    }
}

/// Scores answers.
#[async_trait]
pub trait Scorer: Send + Sync + 'static {
    /// Returns the name of the score in reports.
    fn name(&self) -> &str;

    /// Scores an answer.
    async fn score(&self, case: &Case, answer: &Answer, cx: &Context) -> Result<Score, NodeError>;
}

/// A function as a [`Scorer`]; see [`scorer`].
pub struct FnScorer<F> {
    name: String,
    score: F,
}

/// A function as a scorer.
///
/// # Examples
///
/// ```
/// use langgraph_testing::eval::scorer;
///
/// let short = scorer("short", |_, answer| answer.text().len() < 100);
/// # let _ = short;
/// ```
pub fn scorer<T, F>(name: impl Into<String>, score: F) -> FnScorer<F>
where
    T: Into<Score>,
    F: Fn(&Case, &Answer) -> T + Send + Sync + 'static,
{
    FnScorer {
        name: name.into(),
        score,
    }
}

#[async_trait]
impl<T, F> Scorer for FnScorer<F>
where
    T: Into<Score>,
    F: Fn(&Case, &Answer) -> T + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn score(&self, case: &Case, answer: &Answer, _: &Context) -> Result<Score, NodeError> {
        Ok((self.score)(case, answer).into())
    }
}

impl<F> fmt::Debug for FnScorer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FnScorer({})", self.name)
    }
}

/// `exact`: the answer is equal to what is expected.
pub fn exact() -> impl Scorer {
    scorer("exact", |case: &Case, answer: &Answer| {
        answer.output == case.expected
    })
}

/// `contains`: the answer contains the expected text, or all texts of an expected list, whatever
/// the case of the letters.
pub fn contains() -> impl Scorer {
    scorer("contains", |case: &Case, answer: &Answer| {
        let said = answer.text().to_lowercase();
        match &case.expected {
            Value::Array(all) => all
                .iter()
                .all(|part| said.contains(&text(part).to_lowercase())),
            one => said.contains(&text(one).to_lowercase()),
        }
    })
}

/// `json_subset`: the answer is JSON that has every expected field, at any depth, and maybe more.
pub fn json_subset() -> impl Scorer {
    scorer("json_subset", |case: &Case, answer: &Answer| {
        let parsed = answer
            .output
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        let given = parsed.as_ref().unwrap_or(&answer.output);
        match missing(&case.expected, given, "") {
            None => Score::from(true),
            Some(path) => Score::from(false).because(format!("`{path}` differs")),
        }
    })
}

/// Returns the path of the first expected value that is not there.
fn missing(expected: &Value, given: &Value, path: &str) -> Option<String> {
    match (expected, given) {
        (Value::Object(fields), Value::Object(given)) => fields.iter().find_map(|(key, value)| {
            let path = format!("{path}/{key}");
            match given.get(key) {
                Some(given) => missing(value, given, &path),
                None => Some(path),
            }
        }),
        (Value::Array(items), Value::Array(given)) if items.len() == given.len() => {
            let mut pairs = (0..).zip(items.iter().zip(given));
            pairs.find_map(|(index, (item, given)): (usize, _)| {
                missing(item, given, &format!("{path}/{index}"))
            })
        }
        _ => (expected != given).then(|| path.to_owned()),
    }
}

/// `trajectory`: the agent called the tools of `expected.tools`, a list of names, in this order and
/// no others.
pub fn trajectory() -> impl Scorer {
    scorer("trajectory", |case: &Case, answer: &Answer| {
        let expected = case.expected.get("tools").and_then(Value::as_array);
        let expected: Vec<_> = expected
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let called: Vec<_> = answer.tools.iter().map(|call| call.name.as_str()).collect();
        if called == expected {
            return Score::from(true);
        }
        Score::from(false).because(format!(
            "called {}, expected {}",
            called.join(", "),
            expected.join(", ")
        ))
    })
}
