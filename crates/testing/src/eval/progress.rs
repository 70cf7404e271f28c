//! Progress for a person: a bar, or lines.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Where the progress of an evaluation is shown.
pub(crate) enum Shown {
    Bar(ProgressBar),
    /// The tenths that are shown.
    Lines(String, Mutex<usize>),
}

impl Shown {
    pub(crate) fn new(name: &str) -> Self {
        if std::io::stderr().is_terminal() {
            return Self::bar(name, ProgressDrawTarget::stderr());
        }
        Self::Lines(name.to_owned(), Mutex::new(0))
    }

    fn bar(name: &str, terminal: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), terminal);
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self::Bar(bar.with_message(name.to_owned()))
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
            Self::Lines(name, shown) => {
                let tenth = (done * 10).checked_div(total).unwrap_or(10);
                let mut shown = shown
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                if tenth > *shown {
                    *shown = tenth;
                    // Standard error may be closed.
                    let _ = writeln!(std::io::stderr(), "{name}: {done} of {total}");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, PoisonError};

    use indicatif::TermLike;

    use super::*;

    /// A terminal of 60 columns that keeps what is written to it.
    #[derive(Clone, Debug, Default)]
    struct Terminal(Arc<Mutex<String>>);

    impl Terminal {
        fn take(&self) -> String {
            std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            60
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.take();
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn k9_a_terminal_has_a_bar_that_goes_away_at_the_end() {
        let terminal = Terminal::default();
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
        let shown = Shown::bar("refunds", target);
        shown.at(5, 10);
        std::thread::sleep(std::time::Duration::from_millis(20));
        shown.at(6, 10);
        let line = terminal.take();
        assert!(line.starts_with("refunds "), "{line:?}");
        assert!(
            line.contains(" 6/10, ") && line.contains('\u{2588}'),
            "{line:?}"
        );
        shown.at(10, 10);
        let line = terminal.take();
        assert!(!line.contains("refunds"), "{line:?}");
    }
}
