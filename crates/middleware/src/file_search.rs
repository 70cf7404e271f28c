//! Tools that search files.

use std::fs;
use std::path::PathBuf;

use langgraph_agent::{AgentMiddleware, FnTool, ToolError, Tools, middleware};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Found, PathPattern, Root};

/// Gives the model two tools that search the files of one folder, `glob_search` and `grep_search`; as
/// LangChain's `FilesystemFileSearchMiddleware`.
///
/// There is no way out of the folder: paths with `..` and links are refused. Hidden files, large files and
/// those that are not text are left out, and each answer is bounded.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_middleware::FileSearch;
///
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(FileSearch::new("/srv/handbook"));
/// # let _ = agent.compile();
/// ```
#[derive(Clone, Debug)]
pub struct FileSearch {
    root: Root,
    largest: u64,
    results: usize,
}

/// What `glob_search` takes.
#[derive(Deserialize, JsonSchema)]
struct GlobSearch {
    /// A pattern of paths, as in `**/*.rs`.
    pattern: String,
    /// The folder in which to search; all of it unless given.
    #[serde(default)]
    path: String,
}

/// What `grep_search` takes.
#[derive(Deserialize, JsonSchema)]
struct GrepSearch {
    /// A regular expression.
    pattern: String,
    /// The folder in which to search; all of it unless given.
    #[serde(default)]
    path: String,
    /// A pattern of the paths to search, as in `**/*.rs`; all files unless given.
    #[serde(default)]
    include: Option<String>,
}

impl FileSearch {
    /// Searches this folder: files of up to one megabyte, with up to 200 results.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            root: Root::new(folder),
            largest: 1 << 20,
            results: 200,
        }
    }

    /// Sets the size of files, in bytes, above which `grep_search` leaves them out.
    #[must_use]
    pub fn largest(mut self, bytes: u64) -> Self {
        self.largest = bytes;
        self
    }

    /// Sets how many results an answer has at most.
    #[must_use]
    pub fn results(mut self, results: usize) -> Self {
        self.results = results;
        self
    }

    fn glob(&self, asks: &GlobSearch) -> Result<String, ToolError> {
        let pattern = PathPattern::new(&asks.pattern)?;
        let mut found = Found::new(self.results);
        for file in self.files(&asks.path)? {
            let shown = self.root.shown(&file);
            if pattern.matches(&shown) {
                found.path(shown);
            }
        }
        Ok(found.answer())
    }

    fn grep(&self, asks: &GrepSearch) -> Result<String, ToolError> {
        let pattern = Found::pattern(&asks.pattern)?;
        let include = asks.include.as_deref().map(PathPattern::new).transpose()?;
        let mut found = Found::new(self.results);
        for file in self.files(&asks.path)? {
            let shown = self.root.shown(&file);
            if include
                .as_ref()
                .is_some_and(|include| !include.matches(&shown))
            {
                continue;
            }
            let small = fs::metadata(&file).is_ok_and(|data| data.len() <= self.largest);
            let Some(text) = small.then(|| fs::read_to_string(&file).ok()).flatten() else {
                continue;
            };
            found.lines(&shown, &text, &pattern);
            if found.is_full() {
                break;
            }
        }
        Ok(found.answer())
    }

    fn files(&self, path: &str) -> Result<Vec<PathBuf>, ToolError> {
        let start = self.root.resolve(path)?;
        if !start.is_dir() {
            return Err(ToolError::model(format!("there is no folder `{path}`")));
        }
        Ok(self.root.files(&start))
    }
}

#[middleware]
impl AgentMiddleware for FileSearch {
    fn tools(&self) -> Tools {
        let (globs, greps) = (self.clone(), self.clone());
        let glob = FnTool::new(
            "glob_search",
            "Finds files by a pattern of their paths.",
            move |asks: GlobSearch| {
                let search = globs.clone();
                async move { blocking(move || search.glob(&asks)).await }
            },
        );
        let grep = FnTool::new(
            "grep_search",
            "Finds lines of files by a regular expression.",
            move |asks: GrepSearch| {
                let search = greps.clone();
                async move { blocking(move || search.grep(&asks)).await }
            },
        );
        Tools::new().with(glob).with(grep)
    }
}

/// Reads files on a thread where that holds up nothing else.
async fn blocking(
    work: impl FnOnce() -> Result<String, ToolError> + Send + 'static,
) -> Result<String, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(ToolError::model("the search has failed")))
}
