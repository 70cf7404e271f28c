//! How two reports differ.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Report;
use crate::table::{aligned, header, number};

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
    /// The cases whose input or expectation differs: their scores are not compared.
    #[serde(default)]
    pub altered: Vec<String>,
    /// For each scorer, how the mean of the cases of both reports has changed.
    #[serde(default)]
    pub shifts: Vec<Shift>,
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

/// How the mean of a scorer has changed from one report to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Shift {
    /// The scorer.
    pub scorer: String,
    /// The number of cases that have its score in both reports.
    pub cases: usize,
    /// The earlier mean of these cases.
    pub before: f64,
    /// The later mean.
    pub after: f64,
    /// The standard error of the difference, from the differences of the single cases: how far it would
    /// be off by chance.
    pub error: f64,
}

impl Shift {
    fn new(scorer: &str, pairs: &[(f64, f64)]) -> Self {
        let differences: Vec<_> = pairs.iter().map(|(before, after)| after - before).collect();
        let change = mean_of(&differences);
        let squares: f64 = differences.iter().map(|d| (d - change).powi(2)).sum();
        let before: Vec<_> = pairs.iter().map(|(before, _)| *before).collect();
        let after: Vec<_> = pairs.iter().map(|(_, after)| *after).collect();
        let count = count(pairs.len());
        Self {
            scorer: scorer.to_owned(),
            cases: pairs.len(),
            before: mean_of(&before),
            after: mean_of(&after),
            error: (squares / (count * (count - 1.0).max(1.0))).sqrt(),
        }
    }

    /// Returns true if the mean is lower by more than `tolerance`, and by more than chance explains: twice
    /// the standard error.
    pub fn is_worse(&self, tolerance: f64) -> bool {
        let lost = self.before - self.after;
        lost > tolerance + f64::EPSILON && lost > 2.0 * self.error
    }
}

impl Comparison {
    pub(super) fn new(after: &Report, before: &Report) -> Self {
        let mut found = Self {
            added: missing(after, before),
            removed: missing(before, after),
            ..Self::default()
        };
        let mut pairs = BTreeMap::<&str, Vec<(f64, f64)>>::new();
        for case in &after.cases {
            let Some(earlier) = before.cases.iter().find(|other| other.id == case.id) else {
                continue;
            };
            if !earlier.digest.is_empty() && earlier.digest != case.digest {
                found.altered.push(case.id.clone());
                continue;
            }
            for (scorer, score) in &case.scores {
                let Some(earlier) = earlier.scores.get(scorer) else {
                    continue;
                };
                let values = (earlier.value, score.value);
                pairs.entry(scorer).or_default().push(values);
                if (earlier.value - score.value).abs() > f64::EPSILON {
                    found.changes.push(Change {
                        case: case.id.clone(),
                        scorer: scorer.clone(),
                        before: earlier.value,
                        after: score.value,
                    });
                }
            }
        }
        let shifts = pairs
            .iter()
            .map(|(scorer, pairs)| Shift::new(scorer, pairs));
        found.shifts = shifts.collect();
        found
    }

    /// Returns the scorers whose mean is lower by more than `tolerance`, and by more than chance explains.
    /// It is the check in CI for a scorer whose scores differ from run to run, such as a judge.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_testing::eval::Report;
    ///
    /// fn check(last: &Report, next: &Report) {
    ///     let comparison = next.compare(last);
    ///     assert_eq!(comparison.worse(0.02).count(), 0, "{}", comparison.table());
    /// }
    /// # let _ = check;
    /// ```
    pub fn worse(&self, tolerance: f64) -> impl Iterator<Item = &Shift> {
        let shifts = self.shifts.iter();
        shifts.filter(move |shift| shift.is_worse(tolerance))
    }

    /// Returns the changes for the worse: the check in CI for scorers that give the same answer the same
    /// score. For others, see [`worse`](Self::worse).
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

/// Returns the cases of `report` that `other` does not have.
fn missing(report: &Report, other: &Report) -> Vec<String> {
    let is_missing = |id: &String| other.cases.iter().all(|case| case.id != *id);
    let ids = report.cases.iter().map(|case| &case.id);
    ids.filter(|id| is_missing(id)).cloned().collect()
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len())
}

#[allow(clippy::cast_precision_loss)] // counts of cases
fn count(cases: usize) -> f64 {
    cases as f64
}
