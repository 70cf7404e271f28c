//! Files in the state of an agent.

use std::collections::BTreeMap;

use langgraph_agent::{MiddlewareField, MiddlewareFields, ToolError, async_trait};
use serde_json::json;

use super::{FileContext, Files, ParentFiles, is_below};

/// The files of [`StateFiles`] in the state of the agent, by path.
pub const FILES: MiddlewareField<BTreeMap<String, String>> = MiddlewareField::new("files");

/// Files in the state of the agent: each thread has its own, and they go back in time with it.
///
/// A write is one entry of the field [`FILES`], so that a superstep stores the files that it has written,
/// and no others. All `StateFiles` of an agent are the same files. A sub-agent sees those of the agent
/// that calls it, and the agent gets what the sub-agent has written when it ends; if sub-agents that run
/// in parallel write the same file, the later call of the model's message counts.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel};
/// use langgraph_deep::{FILES, StateFiles, deep_agent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = deep_agent(ScriptedModel::new(["I have read it."])).files(StateFiles).compile()?;
/// let files = StateFiles::update([("/tea.md", "Green tea is not fermented.")]);
/// let state = agent.invoke(MessagesStateUpdate::user("Read it.").middleware(files)).await?;
/// assert_eq!(FILES.read(&state.middleware)?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateFiles;

impl StateFiles {
    /// Returns the update of a state that writes these files: a part of an agent's input.
    pub fn update<P: Into<String>, T: Into<String>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> MiddlewareFields {
        let files = files.into_iter();
        let files: BTreeMap<String, String> = files
            .map(|(path, text)| (path.into(), text.into()))
            .collect();
        let update = json!({ FILES.name(): { "$merge": files } });
        // A map of texts is always one of the form.
        serde_json::from_value(update).unwrap_or_default()
    }
}

#[async_trait]
impl Files for StateFiles {
    async fn read(&self, path: &str, cx: FileContext<'_>) -> Result<Option<String>, ToolError> {
        if let Some(text) = cx.fields().entry(FILES, path)? {
            return Ok(Some(text));
        }
        let parent = cx.context().resource::<ParentFiles>().ok();
        Ok(parent
            .and_then(|parent| parent.read(path))
            .map(str::to_owned))
    }

    async fn write(&self, path: &str, text: &str, cx: FileContext<'_>) -> Result<(), ToolError> {
        Ok(cx.fields().insert(FILES, path, Some(&text.to_owned()))?)
    }

    async fn paths(&self, folder: &str, cx: FileContext<'_>) -> Result<Vec<String>, ToolError> {
        let mut paths = cx.fields().keys(FILES);
        if let Ok(parent) = cx.context().resource::<ParentFiles>() {
            paths.extend(parent.paths().into_iter().map(str::to_owned));
        }
        paths.retain(|path| is_below(path, folder));
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }

    fn fields(&self) -> Vec<&'static str> {
        vec![FILES.name()]
    }
}
