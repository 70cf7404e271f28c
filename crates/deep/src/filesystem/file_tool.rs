//! The tools for files.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use langgraph::message::{Message, ToolCall};
use langgraph_agent::{
    Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, async_trait, schema_of,
};
use langgraph_middleware::{Found, PathPattern};
use serde_json::Value;

use super::Filesystem;
use super::call::{EditFile, Glob, Grep, Ls, ReadFile, WriteFile, parse};
use super::edit::Edit;
use crate::files::{FileContext, file_path, inside};

pub(super) const WRITE: &str = "write_file";
pub(super) const EDIT: &str = "edit_file";
pub(super) const NAMES: [&str; 6] = ["ls", "read_file", WRITE, EDIT, "glob", "grep"];

/// The number of results that an answer shows.
const RESULTS: usize = 200;

/// The number of characters of a line that `read_file` shows.
const LINE: usize = 2_000;

/// The number of bytes after which `read_file` shows no more lines.
const LONGEST: usize = 80_000;

/// One of the tools.
pub(super) struct FileTool {
    definition: ToolDefinition,
    files: Filesystem,
}

impl FileTool {
    pub(super) fn new(name: &str, files: Filesystem) -> Self {
        let (about, schema) = match name {
            "ls" => (
                "Lists the files and folders of a folder.",
                schema_of::<Ls>(),
            ),
            "read_file" => (
                "Reads a file, with the numbers of its lines.",
                schema_of::<ReadFile>(),
            ),
            WRITE => (
                "Creates a file. A file that exists is edited instead.",
                schema_of::<WriteFile>(),
            ),
            EDIT => ("Replaces text in a file.", schema_of::<EditFile>()),
            "glob" => (
                "Finds files by a pattern of their paths.",
                schema_of::<Glob>(),
            ),
            _ => (
                "Finds lines of files by a regular expression.",
                schema_of::<Grep>(),
            ),
        };
        Self {
            definition: ToolDefinition::new(name, about, schema),
            files,
        }
    }

    async fn ls(&self, asks: Ls, cx: FileContext<'_>) -> Result<String, ToolError> {
        let folder = file_path(&asks.path)?;
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let mut entries = BTreeSet::new();
        for path in self.files.paths(&folder, cx).await? {
            let Some(rest) = path.strip_prefix(&prefix) else {
                continue;
            };
            entries.insert(match rest.split_once('/') {
                Some((folder, _)) => format!("{prefix}{folder}/"),
                None => path,
            });
        }
        let mut found = Found::new(RESULTS);
        for entry in entries {
            found.path(entry);
        }
        Ok(found.answer())
    }

    async fn read_file(&self, asks: ReadFile, cx: FileContext<'_>) -> Result<String, ToolError> {
        let path = file_path(&asks.path)?;
        let text = self.existing(&path, cx).await?;
        if text.is_empty() {
            return Ok("(the file is empty)".to_owned());
        }
        let count = text.lines().count();
        if asks.offset >= count {
            return Err(ToolError::model(format!(
                "the file `{path}` has {count} lines; read from a smaller offset than {}",
                asks.offset
            )));
        }
        let (mut shown, mut next) = (String::new(), asks.offset);
        let lines = text.lines().enumerate();
        for (index, line) in lines.skip(asks.offset).take(asks.limit) {
            if shown.len() > LONGEST {
                break;
            }
            next = index + 1;
            let cut = line.char_indices().nth(LINE);
            let line = cut.map_or(line, |(at, _)| line.get(..at).unwrap_or(line));
            let more = if cut.is_some() { "…" } else { "" };
            let _ = writeln!(shown, "{:>6}\t{line}{more}", index + 1); // never fails
        }
        if next < count {
            let _ = writeln!(shown, "(lines {} to {count} follow)", next + 1); // never fails
        }
        Ok(shown)
    }

    async fn write_file(&self, asks: WriteFile, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        let path = file_path(&asks.path)?;
        alone(&path, cx)?;
        match self.files.read(&path, cx.into()).await? {
            // A crash may have come between the write and its answer.
            Some(known) if known == asks.content => {}
            Some(_) => {
                return Err(ToolError::model(format!(
                    "the file `{path}` exists; read it and edit it, or write another one"
                )));
            }
            None => self.files.write(&path, &asks.content, cx.into()).await?,
        }
        Ok(format!("`{path}` is written"))
    }

    async fn edit_file(&self, asks: EditFile, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        let path = file_path(&asks.path)?;
        alone(&path, cx)?;
        let text = self.existing(&path, cx.into()).await?;
        let asks = asks.with_line_ends_of(&text);
        // A crash may have come between the write and its answer: what this call does to the file is noted
        // before it is done.
        let edit = cx.once_with("edit", || Edit::of(&asks, &text)).await?;
        if !edit.is_done(&text) {
            let edited = Edit::apply(&asks, &text);
            self.files.write(&path, &edited, cx.into()).await?;
        }
        Ok(match edit.places {
            1 => format!("`{path}` is edited"),
            places => format!("`{path}` is edited in {places} places"),
        })
    }

    async fn glob(&self, asks: Glob, cx: FileContext<'_>) -> Result<String, ToolError> {
        let folder = file_path(&asks.path)?;
        let pattern = PathPattern::in_all_folders(&asks.pattern)?;
        let mut found = Found::new(RESULTS);
        for path in self.files.paths(&folder, cx).await? {
            if pattern.matches(inside(&path, &folder)) {
                found.path(path);
            }
        }
        Ok(found.answer())
    }

    async fn grep(&self, asks: Grep, cx: FileContext<'_>) -> Result<String, ToolError> {
        let folder = file_path(&asks.path)?;
        let pattern = Found::pattern(&asks.pattern)?;
        let only = asks
            .glob
            .as_deref()
            .map(PathPattern::in_all_folders)
            .transpose()?;
        let mut found = Found::new(RESULTS);
        for path in self.files.paths(&folder, cx).await? {
            let inner = inside(&path, &folder);
            if only.as_ref().is_some_and(|only| !only.matches(inner)) {
                continue;
            }
            match self.files.read(&path, cx).await {
                Ok(Some(text)) => found.lines(&path, &text, &pattern),
                Err(error @ ToolError::Fatal(_)) => return Err(error),
                // A file that is too large or not text has no lines to find.
                _ => {}
            }
            if found.is_full() {
                break;
            }
        }
        Ok(found.answer())
    }

    async fn existing(&self, path: &str, cx: FileContext<'_>) -> Result<String, ToolError> {
        let text = self.files.read(path, cx).await?;
        text.ok_or_else(|| ToolError::model(format!("there is no file `{path}`")))
    }
}

#[async_trait]
impl Tool for FileTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, arguments: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let answer = match &*self.definition.name {
            "ls" => self.ls(parse(arguments)?, cx.into()).await,
            "read_file" => self.read_file(parse(arguments)?, cx.into()).await,
            WRITE => self.write_file(parse(arguments)?, cx).await,
            EDIT => self.edit_file(parse(arguments)?, cx).await,
            "glob" => self.glob(parse(arguments)?, cx.into()).await,
            _ => self.grep(parse(arguments)?, cx.into()).await,
        };
        answer.map(ToolOutput::text)
    }
}

/// Refuses a write of a file that an earlier call of the same message writes: neither sees what the other does.
fn alone(path: &str, cx: &ToolContext<'_>) -> Result<(), ToolError> {
    let last = cx.messages().iter().rfind(|message| message.is_assistant());
    let calls = last.map(Message::tool_calls).unwrap_or_default();
    let earlier = calls.iter().take_while(|call| call.id != cx.call_id());
    let writes = |call: &ToolCall| {
        let named = call.arguments.get("path").and_then(Value::as_str);
        let named = named.and_then(|named| file_path(named).ok());
        matches!(&*call.name, WRITE | EDIT) && named.is_some_and(|named| named == path)
    };
    if earlier.into_iter().any(writes) {
        return Err(ToolError::model(format!(
            "another call writes `{path}` at the same time: change a file by one call at a time"
        )));
    }
    Ok(())
}
