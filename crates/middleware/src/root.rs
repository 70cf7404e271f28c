//! One folder, and no way out of it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use langgraph_agent::ToolError;

/// A folder whose files a model may name, and no way out of it: paths with `..` and paths through links
/// are refused.
///
/// # Examples
///
/// ```
/// use langgraph_middleware::Root;
///
/// let root = Root::new("/srv/handbook");
/// let path = root.resolve("rules/cats.md")?;
/// assert_eq!(root.shown(&path), "rules/cats.md");
/// assert!(root.resolve("rules/../../etc/passwd").is_err());
/// # Ok::<(), langgraph_agent::ToolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// Names the folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Returns the path of what a model names: a path in the folder, whether it begins with `/` or not.
    ///
    /// # Errors
    ///
    /// [`ToolError::Model`] if the path has a `..`, on Windows a `:`, or if it leads through a link.
    pub fn resolve(&self, named: &str) -> Result<PathBuf, ToolError> {
        let mut path = self.0.clone();
        for part in Path::new(named.trim_start_matches('/')).components() {
            match part {
                Component::CurDir => continue,
                Component::Normal(name) if !has_drive(name) => path.push(name),
                Component::Normal(_)
                | Component::ParentDir
                | Component::RootDir
                | Component::Prefix(_) => {
                    return Err(ToolError::model(format!(
                        "the path `{named}` leaves the folder; name a path inside it, without `..`"
                    )));
                }
            }
            if path.is_symlink() {
                return Err(ToolError::model(format!(
                    "the path `{named}` leads through a link, which is not followed"
                )));
            }
        }
        Ok(path)
    }

    /// Returns a path as the model names it.
    pub fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.0).unwrap_or(path);
        let parts = inside
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }

    /// Returns the files below a folder in the order of their paths, without links and without what is
    /// hidden: names that begin with a dot.
    pub fn files(&self, folder: &Path) -> Vec<PathBuf> {
        self.files_with(folder, |name| !name.starts_with('.'))
    }

    /// As [`files`](Self::files), but with the names of files and folders for which `keep` returns true. A folder that
    /// is not kept is not read.
    pub fn files_with(&self, folder: &Path, keep: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries {
                if !keep(&entry.file_name().to_string_lossy()) {
                    continue;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => files.push(entry.path()),
                    _ => {}
                }
            }
        }
        files.sort_unstable();
        files
    }
}

/// Returns true if a part of a path begins anew on another drive, or names a stream of a file.
fn has_drive(name: &OsStr) -> bool {
    cfg!(windows) && name.as_encoded_bytes().contains(&b':')
}
