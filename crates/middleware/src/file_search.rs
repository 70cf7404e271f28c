//! Tools that search files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use langgraph_agent::{AgentMiddleware, FnTool, ToolError, Tools, middleware};
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::root::Root;

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
        let pattern = glob(&asks.pattern)?;
        let files = self.files(&asks.path)?;
        let paths = files.iter().map(|file| self.root.shown(file));
        let found: Vec<_> = paths.filter(|path| pattern.matches(path)).collect();
        Ok(self.answer(&found))
    }

    fn grep(&self, asks: &GrepSearch) -> Result<String, ToolError> {
        let pattern = Regex::new(&asks.pattern)
            .map_err(|error| ToolError::arguments(format!("not a regular expression: {error}")))?;
        let include = asks.include.as_deref().map(glob).transpose()?;
        let mut found = Vec::new();
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
            let lines = text.lines().enumerate();
            let lines = lines.filter(|(_, line)| pattern.is_match(line));
            found.extend(lines.map(|(number, line)| {
                let line: String = line.chars().take(500).collect();
                format!("{shown}:{}: {line}", number + 1)
            }));
            if found.len() > self.results {
                break;
            }
        }
        Ok(self.answer(&found))
    }

    fn answer(&self, found: &[String]) -> String {
        if found.is_empty() {
            return "nothing found".to_owned();
        }
        let shown = found.iter().take(self.results);
        let mut text = shown.cloned().collect::<Vec<_>>().join("\n");
        if found.len() > self.results {
            let _ = write!(text, "\n(only the first {}; search for less)", self.results); // never fails
        }
        text
    }

    /// Returns the files below a folder in the order of their paths, without links and hidden ones.
    fn files(&self, path: &str) -> Result<Vec<PathBuf>, ToolError> {
        let start = self.root.resolve(path)?;
        if !start.is_dir() {
            return Err(ToolError::model(format!("there is no folder `{path}`")));
        }
        let mut files = Vec::new();
        let mut folders = vec![start];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries {
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                match entry.file_type() {
                    _ if hidden => {}
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => files.push(entry.path()),
                    _ => {}
                }
            }
        }
        files.sort_unstable();
        Ok(files)
    }
}

/// A pattern of paths.
struct PathPattern(glob::Pattern);

impl PathPattern {
    fn matches(&self, path: &str) -> bool {
        let mut options = glob::MatchOptions::new();
        options.require_literal_separator = true;
        self.0.matches_path_with(Path::new(path), options)
    }
}

fn glob(pattern: &str) -> Result<PathPattern, ToolError> {
    let compiled = glob::Pattern::new(pattern.trim_start_matches('/'));
    compiled
        .map(PathPattern)
        .map_err(|error| ToolError::arguments(format!("not a pattern of paths: {error}")))
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
