//! Patterns of paths.

use std::fmt;
use std::path::Path;

use langgraph_agent::ToolError;

/// A pattern of paths, as in `**/*.rs`: `*` does not match a `/`, and `**` matches any folders. A `/` at the
/// start does not count.
///
/// # Examples
///
/// ```
/// use langgraph_middleware::PathPattern;
///
/// let pattern = PathPattern::new("src/**/*.rs")?;
/// assert!(pattern.matches("/src/main.rs") && pattern.matches("src/a/b.rs"));
/// assert!(!pattern.matches("/tests/main.rs"));
/// # Ok::<(), langgraph_agent::ToolError>(())
/// ```
#[derive(Clone)]
pub struct PathPattern(glob::Pattern);

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] if it is none.
    pub fn new(pattern: &str) -> Result<Self, ToolError> {
        let compiled = glob::Pattern::new(pattern.trim_start_matches('/'));
        compiled
            .map(Self)
            .map_err(|error| ToolError::arguments(format!("not a pattern of paths: {error}")))
    }

    /// Returns true if the path matches.
    pub fn matches(&self, path: &str) -> bool {
        let mut options = glob::MatchOptions::new();
        options.require_literal_separator = true;
        let path = Path::new(path.trim_start_matches('/'));
        self.0.matches_path_with(path, options)
    }
}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PathPattern({})", self.0)
    }
}
