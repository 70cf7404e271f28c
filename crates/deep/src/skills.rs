//! Folders of instructions, which the model reads when it needs them.

mod front_matter;
mod skill;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph_agent::{
    AgentContext, AgentMiddleware, AgentUpdate, ChatResponse, MiddlewareField, ModelCall,
    NextModel, ToolError, middleware,
};

use crate::files::{FileContext, Files, file_path};
pub use skill::Skill;

/// The skills that [`Skills`] has found, in the state of the agent.
pub const SKILLS: MiddlewareField<Vec<Skill>> = MiddlewareField::new("skills");

/// Names skills in the instructions of the model: folders with a `SKILL.md`, in the format of
/// [agentskills.io](https://agentskills.io/specification); as deepagents' `SkillsMiddleware`.
///
/// The instructions have the name, the description and the path of each skill. The model reads the rest when
/// it needs it, so the agent also has a [`Filesystem`](crate::Filesystem) with these files. The folders are
/// read at the start of each run.
///
/// A `SKILL.md` that cannot be read or does not follow the format is left out; its place in [`SKILLS`] says
/// [why](Skill::problem).
///
/// # Examples
///
/// ```
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel};
/// use langgraph_deep::{SKILLS, StateFiles, deep_agent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let brew = "---\nname: brew-tea\ndescription: How to brew tea.\n---\n\nBoil the water first.\n";
/// let model = ScriptedModel::new(["I know how."]);
/// let agent = deep_agent(model.clone()).skills(["/skills"]).compile()?;
///
/// let files = StateFiles::update([("/skills/brew-tea/SKILL.md", brew)]);
/// let state = agent.invoke(MessagesStateUpdate::user("Tea?").middleware(files)).await?;
/// assert_eq!(SKILLS.read(&state.middleware)?[0].name, "brew-tea");
/// let instructions = model.requests()[0].messages[0].text().into_owned();
/// assert!(instructions.contains("How to brew tea.") && !instructions.contains("Boil"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Skills {
    files: Arc<dyn Files>,
    folders: Vec<String>,
}

const PROMPT: &str = "You have skills: instructions for some kinds of work. If one fits what you are asked, \
read its file with `read_file` before you begin, and follow it. Paths in it are relative to its folder.";

impl Skills {
    /// Looks for skills in these folders. If two have the same name, the one in the later folder counts.
    pub fn new(files: impl Files, folders: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            files: Arc::new(files),
            folders: folders.into_iter().map(Into::into).collect(),
        }
    }

    async fn find(&self, cx: FileContext<'_>) -> Result<Vec<Skill>, ToolError> {
        let mut skills = BTreeMap::new();
        for folder in &self.folders {
            let folder = file_path(folder)?;
            let folder = folder.trim_end_matches('/');
            for path in self.files.paths(folder, cx).await? {
                let inner = path.strip_prefix(folder).unwrap_or_default();
                let inner = inner.strip_prefix('/').unwrap_or_default();
                let Some(name) = inner.strip_suffix("/SKILL.md") else {
                    continue;
                };
                if name.contains('/') {
                    continue;
                }
                let skill = match self.files.read(&path, cx).await {
                    Ok(text) => Skill::read(name, &path, &text.unwrap_or_default()),
                    Err(ToolError::Model(why) | ToolError::Arguments(why)) => {
                        Skill::unreadable(name, &path, why)
                    }
                    Err(error) => return Err(error),
                };
                skills.insert(name.to_owned(), skill);
            }
        }
        Ok(skills.into_values().collect())
    }
}

#[middleware]
impl AgentMiddleware for Skills {
    fn fields(&self) -> Vec<&'static str> {
        vec![SKILLS.name()]
    }

    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let skills = self.find(cx.into()).await;
        let skills = skills.map_err(ToolError::into_node_error)?;
        if skills != cx.fields().read(SKILLS)? {
            cx.fields().set(SKILLS, &skills)?;
        }
        Ok(AgentUpdate::default())
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        cx: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let skills = cx.fields().read(SKILLS)?;
        let fit = skills.iter().filter(|skill| skill.problem.is_none());
        let lines: String = fit.map(Skill::line).collect();
        if !lines.is_empty() {
            call.request = call.request.instruct(&format!("{PROMPT}\n{lines}"));
        }
        next.run(call).await
    }
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skills")
            .field("folders", &self.folders)
            .finish_non_exhaustive()
    }
}
