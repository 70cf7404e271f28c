//! Paths of files.

use langgraph_agent::ToolError;

/// Returns a path that a model names in the form that [`Files`](super::Files) takes: it begins with `/`, and
/// has no empty parts and no `.`.
///
/// # Errors
///
/// [`ToolError::Model`] if the path has a `..`, a `~` or a drive such as `C:` at its start, a backslash or a control
/// character.
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
    if has_drive(named) {
        return refuse("begins with a drive");
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

/// Returns true if a path is one of Windows: `C:/x`, maybe after a `/`.
fn has_drive(named: &str) -> bool {
    let mut letters = named.trim_start_matches('/').chars();
    let first = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic());
    first && letters.next() == Some(':') && matches!(letters.next(), None | Some('/'))
}

/// Returns a path below a folder as seen from there; a file that is named itself, as it is.
pub(crate) fn inside<'p>(path: &'p str, folder: &str) -> &'p str {
    let inner = path.strip_prefix(folder.trim_end_matches('/'));
    inner.filter(|inner| !inner.is_empty()).unwrap_or(path)
}

/// Returns true if a path is a folder's, or is below it.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
