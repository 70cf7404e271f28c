//! What a search of files has found.

use std::fmt::Write as _;

use langgraph_agent::ToolError;
use regex::Regex;

/// The lines, or the paths, that a search of files has found: a bounded answer for a model.
///
/// # Examples
///
/// ```
/// use langgraph_middleware::Found;
///
/// let mut found = Found::new(1);
/// let pattern = Found::pattern("(?i)cats")?;
/// found.lines("rules/cats.md", "Cats may not come.\nNor may cats stay.\n", &pattern);
/// assert_eq!(found.answer(), "rules/cats.md:1: Cats may not come.\n(only the first 1; search for less)");
/// # Ok::<(), langgraph_agent::ToolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Found {
    found: Vec<String>,
    results: usize,
}

/// The number of characters of a line that an answer shows.
const LINE: usize = 500;

impl Found {
    /// Shows up to so many results.
    pub fn new(results: usize) -> Self {
        Self {
            found: Vec::new(),
            results,
        }
    }

    /// Reads a regular expression.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] if it is none.
    pub fn pattern(text: &str) -> Result<Regex, ToolError> {
        Regex::new(text)
            .map_err(|error| ToolError::arguments(format!("not a regular expression: {error}")))
    }

    /// Adds a path.
    pub fn path(&mut self, path: String) {
        self.found.push(path);
    }

    /// Adds the lines of a file that match.
    pub fn lines(&mut self, path: &str, text: &str, pattern: &Regex) {
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| pattern.is_match(line));
        self.found.extend(lines.map(|(number, line)| {
            let line: String = line.chars().take(LINE).collect();
            format!("{path}:{}: {line}", number + 1)
        }));
    }

    /// Returns true if more is found than it shows.
    pub fn is_full(&self) -> bool {
        self.found.len() > self.results
    }

    /// Returns the answer: a result a line.
    pub fn answer(&self) -> String {
        if self.found.is_empty() {
            return "nothing found".to_owned();
        }
        let shown = self.found.iter().take(self.results);
        let mut text = shown.cloned().collect::<Vec<_>>().join("\n");
        if self.is_full() {
            let _ = write!(text, "\n(only the first {}; search for less)", self.results); // never fails
        }
        text
    }
}
