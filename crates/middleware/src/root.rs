//! One folder, and no way out of it.

use std::path::{Component, Path, PathBuf};

use langgraph_agent::ToolError;

/// A folder that a model may see.
#[derive(Clone, Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// Returns the path of what a model names: relative to the folder, without `..` and without links.
    pub(crate) fn resolve(&self, named: &str) -> Result<PathBuf, ToolError> {
        let mut path = self.0.clone();
        for part in Path::new(named.trim_start_matches('/')).components() {
            match part {
                Component::CurDir => continue,
                Component::Normal(name) => path.push(name),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
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
    pub(crate) fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.0).unwrap_or(path);
        let parts = inside
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }
}
