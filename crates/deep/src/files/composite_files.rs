//! Files in several places.

use std::fmt;
use std::sync::Arc;

use langgraph_agent::{ToolError, async_trait};

use super::{FileContext, Files, file_path, is_below};

/// Files in several places, by the folders in which they are; the longest path of a folder counts.
///
/// A place sees paths without the path of its folder: of `/memories/tea.md` in a place at `/memories` it
/// sees `/tea.md`.
///
/// # Examples
///
/// ```
/// use langgraph_agent::ScriptedModel;
/// use langgraph_deep::{CompositeFiles, DiskFiles, StateFiles, StoreFiles, deep_agent};
///
/// let files = CompositeFiles::new(StateFiles)
///     .at("/memories", StoreFiles::new(["memories"]))?
///     .at("/src", DiskFiles::new("/srv/scratch"))?;
/// let agent = deep_agent(ScriptedModel::new(["hi"])).files(files).compile();
/// # assert!(agent.is_ok());
/// # Ok::<(), langgraph_agent::ToolError>(())
/// ```
#[derive(Clone)]
pub struct CompositeFiles {
    otherwise: Arc<dyn Files>,
    /// The longest folder first.
    folders: Vec<(String, Arc<dyn Files>)>,
}

impl CompositeFiles {
    /// Creates it with the place for all files that are in none of the folders.
    pub fn new(otherwise: impl Files) -> Self {
        Self {
            otherwise: Arc::new(otherwise),
            folders: Vec::new(),
        }
    }

    /// Puts the files of a folder into another place.
    ///
    /// # Errors
    ///
    /// [`ToolError::Model`] if the folder is no path, is `/`, or has a place already.
    pub fn at(mut self, folder: &str, files: impl Files) -> Result<Self, ToolError> {
        let folder = file_path(folder)?;
        if folder == "/" || self.folders.iter().any(|(known, _)| *known == folder) {
            return Err(ToolError::model(format!(
                "the folder `{folder}` has a place already; name another folder"
            )));
        }
        self.folders.push((folder, Arc::new(files)));
        self.folders
            .sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
        Ok(self)
    }

    /// Returns the place of a path, its folder, and the path there.
    fn place<'a>(&self, path: &'a str) -> (&dyn Files, &str, &'a str) {
        for (folder, files) in &self.folders {
            if is_below(path, folder) {
                let inner = path.get(folder.len()..).unwrap_or_default();
                return (&**files, folder, or_root(inner));
            }
        }
        (&*self.otherwise, "", path)
    }
}

/// Returns the error of the place of a folder, whose paths begin there.
fn in_place(folder: &str, error: ToolError) -> ToolError {
    match error {
        ToolError::Model(why) if !folder.is_empty() => {
            ToolError::model(format!("in the folder `{folder}`: {why}"))
        }
        error => error,
    }
}

fn or_root(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

#[async_trait]
impl Files for CompositeFiles {
    async fn read(&self, path: &str, cx: FileContext<'_>) -> Result<Option<String>, ToolError> {
        let (files, folder, inner) = self.place(path);
        let text = files.read(inner, cx).await;
        text.map_err(|error| in_place(folder, error))
    }

    async fn write(&self, path: &str, text: &str, cx: FileContext<'_>) -> Result<(), ToolError> {
        let (files, folder, inner) = self.place(path);
        if inner == "/" {
            return Err(ToolError::model(format!(
                "`{path}` is a folder; name a file in it"
            )));
        }
        let written = files.write(inner, text, cx).await;
        written.map_err(|error| in_place(folder, error))
    }

    async fn paths(&self, folder: &str, cx: FileContext<'_>) -> Result<Vec<String>, ToolError> {
        let mut paths = Vec::new();
        let rooted = self.folders.iter().map(|(at, files)| (&**at, &**files));
        for (at, files) in rooted.chain([("", &*self.otherwise)]) {
            let inner = if is_below(folder, at) {
                folder.get(at.len()..).unwrap_or_default()
            } else if is_below(at, folder) {
                "/"
            } else {
                continue;
            };
            let found = files.paths(or_root(inner), cx).await;
            let found = found.map_err(|error| in_place(at, error))?;
            let found = found.into_iter().map(|path| format!("{at}{path}"));
            // What another place hides cannot be read.
            paths.extend(found.filter(|path| self.place(path).1 == at));
        }
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }

    fn fields(&self) -> Vec<&'static str> {
        let folders = self.folders.iter().flat_map(|(_, files)| files.fields());
        let mut fields: Vec<_> = self.otherwise.fields().into_iter().chain(folders).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }
}

impl fmt::Debug for CompositeFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folders = self.folders.iter().map(|(folder, _)| folder);
        f.debug_struct("CompositeFiles")
            .field("folders", &folders.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
