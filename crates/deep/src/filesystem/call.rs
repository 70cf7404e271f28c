//! What the tools for files take.

use langgraph_agent::ToolError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads what a model sent.
pub(super) fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| ToolError::arguments(error.to_string()))
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Ls {
    /// The folder; all files unless given.
    #[serde(default)]
    pub(super) path: String,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadFile {
    /// The file.
    pub(super) path: String,
    /// How many lines to leave out at the start.
    #[serde(default)]
    pub(super) offset: usize,
    /// How many lines to read.
    #[serde(default = "lines")]
    pub(super) limit: usize,
}

fn lines() -> usize {
    2_000
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct WriteFile {
    /// The new file.
    pub(super) path: String,
    /// Its text.
    pub(super) content: String,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct EditFile {
    /// The file.
    pub(super) path: String,
    /// The text to replace, as it stands in the file, with enough around it that it stands there once.
    pub(super) old_string: String,
    /// What takes its place.
    pub(super) new_string: String,
    /// Whether to replace it wherever it stands.
    #[serde(default)]
    pub(super) replace_all: bool,
}

impl EditFile {
    /// Returns the edit with the line ends of the file: the model sees `\n`, and may send `\r\n`.
    pub(super) fn with_line_ends_of(mut self, text: &str) -> Self {
        for part in [&mut self.old_string, &mut self.new_string] {
            *part = part.replace("\r\n", "\n");
            if text.contains("\r\n") {
                *part = part.replace('\n', "\r\n");
            }
        }
        self
    }
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Glob {
    /// A pattern of paths, as in `docs/**/*.{md,txt}`. Without a `/`, it is one of names in all folders.
    pub(super) pattern: String,
    /// The folder in which to search, to which the pattern is relative; all files unless given.
    #[serde(default)]
    pub(super) path: String,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Grep {
    /// A regular expression.
    pub(super) pattern: String,
    /// The folder in which to search; all files unless given.
    #[serde(default)]
    pub(super) path: String,
    /// A pattern of the paths to search, relative to the folder, as in `docs/**/*.md`, or of names, as in `*.md`.
    #[serde(default)]
    pub(super) glob: Option<String>,
}
