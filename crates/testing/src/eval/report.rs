//! What an evaluation has found.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use langgraph::error::NodeError;
use langgraph::message::Usage;
use serde::{Deserialize, Serialize};

use super::comparison::Comparison;
use super::evaluation::Board;
use super::{Answer, Case, Score, Scorer};
use crate::table::{aligned, header, number};

/// A case, its answer, and its scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scored {
    /// The id of the case.
    pub id: String,
    /// The groups of the case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The answer; an empty one if the agent failed.
    pub answer: Answer,
    /// Why the agent failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The score of each scorer.
    pub scores: BTreeMap<String, Score>,
    /// The scorers that failed, with their errors.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unscored: BTreeMap<String, String>,
    /// How long the answer took.
    #[serde(default)]
    pub time: Duration,
    /// The SHA-256 digest of the input and of what is expected.
    #[serde(default)]
    pub digest: String,
}

impl Scored {
    /// Returns what failed.
    fn note(&self) -> String {
        let failed = self.unscored.iter();
        let failed = failed.map(|(scorer, error)| format!("{scorer}: {error}"));
        let notes: Vec<_> = self.error.iter().cloned().chain(failed).collect();
        notes.join("; ")
    }

    pub(crate) fn new(case: &Case, answer: Answer, time: Duration) -> Self {
        Self {
            id: case.id.clone(),
            tags: case.tags.clone(),
            answer,
            error: None,
            scores: BTreeMap::new(),
            unscored: BTreeMap::new(),
            time,
            digest: case.digest(),
        }
    }

    pub(crate) fn failed(case: &Case, scorers: &[Arc<dyn Scorer>], error: &NodeError) -> Self {
        let mut scored = Self {
            error: Some(error.to_string()),
            ..Self::new(case, Answer::default(), Duration::ZERO)
        };
        scored.fail(scorers);
        scored
    }

    /// Gives the lowest score to a case whose agent has failed, of each scorer that it has none of.
    pub(crate) fn fail(&mut self, scorers: &[Arc<dyn Scorer>]) {
        for scorer in scorers {
            let failed = || Score::from(false).because("the agent failed");
            let score = self.scores.entry(scorer.name().to_owned());
            score.or_insert_with(failed);
        }
    }
}

/// The result of an evaluation. It is stored as JSON with serde.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the evaluation.
    pub name: String,
    /// The cases, in the order of the data set.
    pub cases: Vec<Scored>,
}

impl Report {
    pub(crate) fn new(name: &str, cases: &[Case], board: &Board) -> Self {
        let scored = cases.iter().filter_map(|case| board.of(&case.id));
        Self {
            name: name.to_owned(),
            cases: scored.cloned().collect(),
        }
    }

    /// Returns the names of the scorers.
    pub fn scorers(&self) -> Vec<&str> {
        let mut names: Vec<_> = self
            .cases
            .iter()
            .flat_map(|case| case.scores.keys())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(String::as_str).collect()
    }

    /// Returns the mean of a scorer's scores; `None` if there are none.
    pub fn mean(&self, scorer: &str) -> Option<f64> {
        mean(self.cases.iter().filter_map(|case| case.scores.get(scorer)))
    }

    /// Returns the mean of the cases with a tag.
    pub fn mean_of(&self, scorer: &str, tag: &str) -> Option<f64> {
        let tagged = self
            .cases
            .iter()
            .filter(|case| case.tags.iter().any(|known| known == tag));
        mean(tagged.filter_map(|case| case.scores.get(scorer)))
    }

    /// Returns the sum of all tokens.
    pub fn usage(&self) -> Usage {
        self.cases.iter().map(|case| case.answer.usage).sum()
    }

    /// Returns the sum of all costs; `None` if no answer has one.
    pub fn cost(&self) -> Option<f64> {
        let costs = self.cases.iter().filter_map(|case| case.answer.cost);
        costs.reduce(|sum, cost| sum + cost)
    }

    /// Returns how long all answers took, one after the other.
    pub fn time(&self) -> Duration {
        self.cases.iter().map(|case| case.time).sum()
    }

    /// Returns a table of the cases with their scores, the seconds that their answers took, and their costs
    /// if there are any. The last lines are the means and the sums.
    pub fn table(&self) -> String {
        let scorers = self.scorers();
        let cost = self.cost();
        let row = |first: &str, scores: &dyn Fn(&str) -> Option<f64>, time, money, note: String| {
            let mut row = vec![first.to_owned()];
            row.extend(scorers.iter().map(|name| number(scores(name))));
            row.push(number(time));
            row.extend(cost.map(|_| number(money)));
            row.push(note);
            row
        };
        let mut columns = scorers.clone();
        columns.push("seconds");
        columns.extend(cost.map(|_| "cost"));
        let mut rows = vec![header("case", &columns)];
        for case in &self.cases {
            let score = |name: &str| case.scores.get(name).map(|score| score.value);
            let seconds = Some(case.time.as_secs_f64());
            rows.push(row(
                &case.id,
                &score,
                seconds,
                case.answer.cost,
                case.note(),
            ));
        }
        let mean = |name: &str| self.mean(name);
        rows.push(row("mean", &mean, None, None, String::new()));
        let seconds = Some(self.time().as_secs_f64());
        rows.push(row("sum", &|_| None, seconds, cost, String::new()));
        aligned(&rows)
    }

    /// Compares this report with an earlier one of the same cases.
    pub fn compare(&self, before: &Self) -> Comparison {
        Comparison::new(self, before)
    }
}

#[allow(clippy::cast_precision_loss)] // counts of cases
fn mean<'a>(scores: impl Iterator<Item = &'a Score>) -> Option<f64> {
    let values: Vec<_> = scores.map(|score| score.value).collect();
    let sum: f64 = values.iter().sum();
    (!values.is_empty()).then(|| sum / values.len() as f64)
}
