//! What a model may do with which files.

use langgraph_agent::ToolError;
use langgraph_middleware::PathPattern;

use super::FileAccess;

/// What a model may do with which files: a list of patterns, of which the first that matches a path counts.
///
/// # Examples
///
/// ```
/// use langgraph_deep::{FileAccess, FilePermissions};
///
/// let permissions = FilePermissions::new()
///     .on("/secrets/**", FileAccess::Deny)?
///     .on("/src/**/*.rs", FileAccess::Ask)?
///     .on("/notes/**", FileAccess::Write)?
///     .otherwise(FileAccess::Read);
/// assert_eq!(permissions.of("/src/main.rs"), FileAccess::Ask);
/// assert_eq!(permissions.of("/README.md"), FileAccess::Read);
/// # Ok::<(), langgraph_agent::ToolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilePermissions {
    rules: Vec<(PathPattern, FileAccess)>,
    otherwise: FileAccess,
}

impl FilePermissions {
    /// Allows to read and write all files.
    pub fn new() -> Self {
        Self {
            rules: Vec::new(),
            otherwise: FileAccess::Write,
        }
    }

    /// Says what holds for the paths that match a pattern, unless an earlier one matches. `/secrets/**` is
    /// what is below the folder, and `**/*.key` the files of that ending in all folders.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] if it is not a pattern of paths, or if no path could match it: one with `..`, with a
    /// backslash, or that ends with `/`.
    pub fn on(mut self, pattern: &str, access: FileAccess) -> Result<Self, ToolError> {
        if let Some(why) = matches_nothing(pattern) {
            return Err(ToolError::arguments(format!(
                "no path matches the pattern `{pattern}`: {why}; write one such as `/secrets/**`"
            )));
        }
        self.rules.push((PathPattern::new(pattern)?, access));
        Ok(self)
    }

    /// Says what holds for all other paths.
    #[must_use]
    pub fn otherwise(mut self, access: FileAccess) -> Self {
        self.otherwise = access;
        self
    }

    /// Returns what holds for a path.
    pub fn of(&self, path: &str) -> FileAccess {
        let rule = self.rules.iter().find(|(pattern, _)| pattern.matches(path));
        rule.map_or(self.otherwise, |(_, access)| *access)
    }

    /// Returns true if a person decides about some files.
    pub(crate) fn asks(&self) -> bool {
        let rules = self.rules.iter().map(|(_, access)| *access);
        rules
            .chain([self.otherwise])
            .any(|access| access == FileAccess::Ask)
    }
}

/// Returns why no path matches a pattern. Such a rule would seem to forbid something.
fn matches_nothing(pattern: &str) -> Option<&'static str> {
    let path = pattern.strip_prefix('/').unwrap_or(pattern);
    if path.starts_with('~') || pattern.contains('\\') {
        return Some("paths have no `~` at their start and no backslash");
    }
    if path.split('/').any(|part| matches!(part, "." | "..")) {
        return Some("paths have no `.` and no `..`");
    }
    let is_empty = path.split('/').any(str::is_empty);
    is_empty.then_some("paths have no empty parts, and end with the name of a file")
}

impl Default for FilePermissions {
    fn default() -> Self {
        Self::new()
    }
}
