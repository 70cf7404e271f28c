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
    /// [`ToolError::Arguments`] if it is not a pattern of paths.
    pub fn on(mut self, pattern: &str, access: FileAccess) -> Result<Self, ToolError> {
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

impl Default for FilePermissions {
    fn default() -> Self {
        Self::new()
    }
}
