//! Patterns of paths.

use std::fmt;
use std::path::Path;

use langgraph_agent::ToolError;

/// A pattern of paths, as in `**/*.{ts,tsx}`: `*` and `?` do not match a `/`, `**` matches any folders, and
/// braces hold alternatives. A `/` at the start does not count.
///
/// # Examples
///
/// ```
/// use langgraph_middleware::PathPattern;
///
/// let pattern = PathPattern::new("src/**/*.rs")?;
/// assert!(pattern.matches("/src/main.rs") && pattern.matches("src/a/b.rs"));
/// assert!(!pattern.matches("/tests/main.rs"));
///
/// let page = PathPattern::new("pages/*.{ts,tsx}")?;
/// assert!(page.matches("/pages/tea.tsx") && !page.matches("/pages/tea.css"));
/// # Ok::<(), langgraph_agent::ToolError>(())
/// ```
#[derive(Clone)]
pub struct PathPattern {
    text: String,
    /// One for each choice of alternatives.
    patterns: Vec<glob::Pattern>,
}

/// The largest number of alternatives.
const ALTERNATIVES: usize = 256;

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] if it is none, or has more than 256 alternatives.
    pub fn new(pattern: &str) -> Result<Self, ToolError> {
        let none = |why: &str| ToolError::arguments(format!("not a pattern of paths: {why}"));
        let texts = alternatives(pattern.trim_start_matches('/'))
            .ok_or_else(|| none(&format!("it has more than {ALTERNATIVES} alternatives")))?;
        let patterns = texts.iter().map(|text| {
            // Also as shells write it.
            let compiled = glob::Pattern::new(&text.replace("[^", "[!"));
            compiled.map_err(|error| none(&error.to_string()))
        });
        Ok(Self {
            text: pattern.to_owned(),
            patterns: patterns.collect::<Result<_, _>>()?,
        })
    }

    /// As [`new`](Self::new), for a search: a pattern without a `/`, as in `*.rs`, matches the names of files in
    /// all folders.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_middleware::PathPattern;
    ///
    /// assert!(PathPattern::in_all_folders("*.rs")?.matches("/src/main.rs"));
    /// assert!(!PathPattern::in_all_folders("/*.rs")?.matches("/src/main.rs"));
    /// # Ok::<(), langgraph_agent::ToolError>(())
    /// ```
    pub fn in_all_folders(pattern: &str) -> Result<Self, ToolError> {
        if pattern.contains('/') {
            return Self::new(pattern);
        }
        Self::new(&format!("**/{pattern}"))
    }

    /// Returns true if the path matches.
    pub fn matches(&self, path: &str) -> bool {
        let mut options = glob::MatchOptions::new();
        options.require_literal_separator = true;
        let path = Path::new(path.trim_start_matches('/'));
        let mut patterns = self.patterns.iter();
        patterns.any(|pattern| pattern.matches_path_with(path, options))
    }
}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PathPattern({})", self.text)
    }
}

/// Returns the patterns without braces that a pattern with braces means; `None` if there are too many. Braces
/// without an end, and those without a comma, are no alternatives.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        let Some((before, choices, after)) = first_braces(&text) else {
            done.push(text);
            continue;
        };
        for choice in choices {
            open.push(format!("{before}{choice}{after}"));
        }
        if open.len() + done.len() > ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

/// Returns what is before the first braces with several choices, the choices, and what is after.
fn first_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let starts = text.match_indices('{').map(|(start, _)| start);
    starts.into_iter().find_map(|start| {
        let (mut depth, mut choices, mut from) = (0, Vec::new(), start + 1);
        for (at, c) in text.get(start..)?.char_indices() {
            let at = start + at;
            match c {
                '{' => depth += 1,
                ',' if depth == 1 => {
                    choices.push(text.get(from..at)?);
                    from = at + 1;
                }
                '}' if depth == 1 => {
                    choices.push(text.get(from..at)?);
                    let several = choices.len() > 1;
                    return several.then_some((text.get(..start)?, choices, text.get(at + 1..)?));
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        None
    })
}
