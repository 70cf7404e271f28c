//! What an evaluation has found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::message::Usage;
use serde::{Deserialize, Serialize};

use super::evaluation::Board;
use super::{Answer, Case, Score, Scorer};

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
}

impl Scored {
    pub(crate) fn new(case: &Case, answer: Answer) -> Self {
        Self {
            id: case.id.clone(),
            tags: case.tags.clone(),
            answer,
            error: None,
            scores: BTreeMap::new(),
        }
    }

    pub(crate) fn failed(case: &Case, scorers: &[Arc<dyn Scorer>], error: &NodeError) -> Self {
        let scores = scorers.iter().map(|scorer| {
            let score = Score::from(false).because("the agent failed");
            (scorer.name().to_owned(), score)
        });
        Self {
            error: Some(error.to_string()),
            scores: scores.collect(),
            ..Self::new(case, Answer::default())
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
    pub(crate) fn new(name: &str, board: &Board) -> Self {
        Self {
            name: name.to_owned(),
            cases: board.scored.clone(),
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

    /// Returns a table of the cases and their scores.
    pub fn table(&self) -> String {
        let scorers = self.scorers();
        let mut rows = vec![header("case", &scorers)];
        for case in &self.cases {
            let mut row = vec![case.id.clone()];
            row.extend(
                scorers
                    .iter()
                    .map(|name| number(case.scores.get(*name).map(|s| s.value))),
            );
            row.push(case.error.clone().unwrap_or_default());
            rows.push(row);
        }
        let mut row = vec!["mean".to_owned()];
        row.extend(scorers.iter().map(|name| number(self.mean(name))));
        row.push(String::new());
        rows.push(row);
        aligned(&rows)
    }

    /// Compares this report with an earlier one of the same cases.
    pub fn compare(&self, before: &Self) -> Comparison {
        let mut changes = Vec::new();
        for case in &self.cases {
            let earlier = before.cases.iter().find(|other| other.id == case.id);
            for (scorer, score) in &case.scores {
                let earlier = earlier.and_then(|case| case.scores.get(scorer));
                if let Some(earlier) =
                    earlier.filter(|earlier| (earlier.value - score.value).abs() > f64::EPSILON)
                {
                    changes.push(Change {
                        case: case.id.clone(),
                        scorer: scorer.clone(),
                        before: earlier.value,
                        after: score.value,
                    });
                }
            }
        }
        let gone = |a: &Self, b: &Self| -> Vec<String> {
            let missing = a
                .cases
                .iter()
                .filter(|case| b.cases.iter().all(|other| other.id != case.id));
            missing.map(|case| case.id.clone()).collect()
        };
        Comparison {
            changes,
            added: gone(self, before),
            removed: gone(before, self),
        }
    }
}

/// How two reports differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The scores that differ.
    pub changes: Vec<Change>,
    /// The cases that the earlier report does not have.
    pub added: Vec<String>,
    /// The cases that only the earlier report has.
    pub removed: Vec<String>,
}

/// A score that differs between two reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// The case.
    pub case: String,
    /// The scorer.
    pub scorer: String,
    /// The earlier score.
    pub before: f64,
    /// The later score.
    pub after: f64,
}

impl Comparison {
    /// Returns the changes for the worse: a check in CI fails if there are any.
    pub fn regressions(&self) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(|change| change.after < change.before)
    }

    /// Returns a table of the changes.
    pub fn table(&self) -> String {
        let mut rows = vec![header("case", &["scorer", "before", "after"])];
        for change in &self.changes {
            rows.push(vec![
                change.case.clone(),
                change.scorer.clone(),
                number(Some(change.before)),
                number(Some(change.after)),
                if change.after < change.before {
                    "worse"
                } else {
                    "better"
                }
                .to_owned(),
            ]);
        }
        aligned(&rows)
    }
}

#[allow(clippy::cast_precision_loss)] // counts of cases
fn mean<'a>(scores: impl Iterator<Item = &'a Score>) -> Option<f64> {
    let values: Vec<_> = scores.map(|score| score.value).collect();
    let sum: f64 = values.iter().sum();
    (!values.is_empty()).then(|| sum / values.len() as f64)
}

fn header(first: &str, others: &[&str]) -> Vec<String> {
    let names = std::iter::once(&first).chain(others);
    let names = names.map(|name| (*name).to_owned());
    names.chain([String::new()]).collect()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

/// Writes rows with aligned columns.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  "); // writing to a String never fails
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}
