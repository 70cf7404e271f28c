//! Paths of files.

use langgraph_agent::ToolError;

/// Returns a path that a model names in the form that [`Files`](super::Files) takes: it begins with `/`, and
/// has no empty parts and no `.`.
///
/// # Errors
///
/// [`ToolError::Model`] if the path has a `..`, a `~` at its start, a backslash or a control character.
///
/// # Examples
///
/// ```
/// use langgraph_deep::file_path;
///
/// assert_eq!(file_path("notes//./tea.md")?, "/notes/tea.md");
/// assert_eq!(file_path("")?, "/");
/// assert!(file_path("/notes/../../etc/passwd").is_err());
/// # Ok::<(), langgraph_agent::ToolError>(())
/// ```
pub fn file_path(named: &str) -> Result<String, ToolError> {
    let refuse = |why: &str| {
        Err(ToolError::model(format!(
            "the path `{}` {why}; name a path such as `/notes/tea.md`",
            named.escape_debug()
        )))
    };
    if named.starts_with('~') {
        return refuse("begins with `~`");
    }
    if named.contains('\\') || named.contains(char::is_control) {
        return refuse("has a backslash or a control character");
    }
    let parts = named.split('/').filter(|part| !matches!(*part, "" | "."));
    let mut path = String::new();
    for part in parts {
        if part == ".." {
            return refuse("has a `..`");
        }
        path.push('/');
        path.push_str(part);
    }
    if path.is_empty() {
        path.push('/');
    }
    Ok(path)
}

/// Returns true if a path is a folder's, or is below it.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
