//! Progress for a person: a bar, or lines.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Where the progress of an evaluation is shown.
pub(crate) enum Shown {
    Bar(ProgressBar),
    /// The tenths that are told.
    Lines(String, Mutex<usize>),
}

impl Shown {
    pub(crate) fn new(name: &str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines(name.to_owned(), Mutex::new(0));
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.set_message(name.to_owned());
        Self::Bar(bar)
    }

    pub(crate) fn at(&self, done: usize, total: usize) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(total as u64);
                bar.set_position(done as u64);
                if done == total {
                    bar.finish_and_clear();
                }
            }
            Self::Lines(name, told) => {
                let tenth = (done * 10).checked_div(total).unwrap_or(10);
                let mut told = told
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                if tenth > *told {
                    *told = tenth;
                    // Nobody may read it.
                    let _ = writeln!(std::io::stderr(), "{name}: {done} of {total}");
                }
            }
        }
    }
}
