//! Where the files of an agent are.

mod composite_files;
mod disk_files;
mod file_context;
mod file_path;
mod parent_files;
mod state_files;
mod store_files;

use std::sync::Arc;

use langgraph_agent::{ToolError, async_trait};

pub use composite_files::CompositeFiles;
pub use disk_files::DiskFiles;
pub use file_context::FileContext;
pub use file_path::file_path;
pub(crate) use file_path::{inside, is_below};
pub(crate) use parent_files::ParentFiles;
pub use state_files::{FILES, StateFiles};
pub use store_files::StoreFiles;

/// A place for files: text under a path.
///
/// Paths are those that [`file_path`] returns: they begin with `/` and have no `..`. There are no folders but
/// those that the paths of files name.
///
/// # Examples
///
/// Files that nothing changes:
///
/// ```
/// use langgraph_agent::{ToolError, async_trait};
/// use langgraph_deep::{FileContext, Files, deep_agent};
/// # use langgraph_agent::ScriptedModel;
///
/// struct Handbook;
///
/// #[async_trait]
/// impl Files for Handbook {
///     async fn read(&self, path: &str, _: FileContext<'_>) -> Result<Option<String>, ToolError> {
///         Ok((path == "/dogs.md").then(|| "Dogs may come.".to_owned()))
///     }
///
///     async fn write(&self, path: &str, _: &str, _: FileContext<'_>) -> Result<(), ToolError> {
///         Err(ToolError::model(format!("`{path}` cannot be written: the handbook is printed")))
///     }
///
///     async fn paths(&self, folder: &str, _: FileContext<'_>) -> Result<Vec<String>, ToolError> {
///         Ok(if folder == "/" { vec!["/dogs.md".to_owned()] } else { Vec::new() })
///     }
/// }
///
/// let agent = deep_agent(ScriptedModel::new(["hi"])).files(Handbook).compile();
/// # assert!(agent.is_ok());
/// ```
#[async_trait]
pub trait Files: Send + Sync + 'static {
    /// Returns the text of a file, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// What the model reads, or what fails the node.
    async fn read(&self, path: &str, cx: FileContext<'_>) -> Result<Option<String>, ToolError>;

    /// Creates a file, or replaces it.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    async fn write(&self, path: &str, text: &str, cx: FileContext<'_>) -> Result<(), ToolError>;

    /// Returns the paths of all files below a folder, sorted.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    async fn paths(&self, folder: &str, cx: FileContext<'_>) -> Result<Vec<String>, ToolError>;

    /// Returns the fields of the agent's state that it needs.
    fn fields(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

#[async_trait]
impl<F: Files + ?Sized> Files for Arc<F> {
    async fn read(&self, path: &str, cx: FileContext<'_>) -> Result<Option<String>, ToolError> {
        (**self).read(path, cx).await
    }

    async fn write(&self, path: &str, text: &str, cx: FileContext<'_>) -> Result<(), ToolError> {
        (**self).write(path, text, cx).await
    }

    async fn paths(&self, folder: &str, cx: FileContext<'_>) -> Result<Vec<String>, ToolError> {
        (**self).paths(folder, cx).await
    }

    fn fields(&self) -> Vec<&'static str> {
        (**self).fields()
    }
}
