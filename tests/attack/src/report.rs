//! What an attack has found.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Findings that are printed in full; more of them say nothing new.
const PRINTED: usize = 50;

/// The result of one mode.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) cases: u64,
    pub(crate) findings: Vec<String>,
    /// What was done, in numbers.
    pub(crate) figures: String,
}

impl Report {
    pub(crate) fn finding(&mut self, what: impl Into<String>) {
        let mut what = what.into();
        if self.findings.len() > PRINTED {
            what.truncate(
                what.char_indices()
                    .nth(120)
                    .map_or(what.len(), |(at, _)| at),
            );
        }
        self.findings.push(what);
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.findings.extend(other.findings);
        if !self.figures.is_empty() {
            self.figures += "; ";
        }
        self.figures += &other.figures;
    }

    /// Adds to the figures.
    pub(crate) fn say(&mut self, figures: impl AsRef<str>) {
        if !self.figures.is_empty() {
            self.figures += "; ";
        }
        self.figures += figures.as_ref();
    }
}

/// Runs `work`, and turns a panic into its text.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| said(&*panic))
}

pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a panic: {}", text.unwrap_or_default())
}
