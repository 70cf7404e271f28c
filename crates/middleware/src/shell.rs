//! A tool that runs programs.

mod local;
mod words;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use langgraph::error::NodeError;
use langgraph::message::ToolCall;
use langgraph_agent::{
    AgentMiddleware, Approval, DecisionKind, FnTool, HumanInTheLoop, NextTool, ToolAnswer,
    ToolContext, ToolError, Tools, async_trait, middleware,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Root;
pub use local::LocalRunner;
use words::words;

const TOOL: &str = "shell";

/// Gives the model a tool that runs programs, `shell`; LangChain has `ShellToolMiddleware` for it.
///
/// Nothing runs that is not named: a program has to be [allowed](Self::allow), and a person approves each
/// call unless [`without_approval`](Self::without_approval) says otherwise. There is no shell: the line is
/// split into words, and one with `|`, `>`, `;`, `$` and the like outside of quotes is refused. So are words
/// that look like paths out of the folder.
///
/// What an allowed program does is not checked: do not allow one that runs others. A
/// [runner](Self::runner) of one's own puts programs into a container.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_middleware::Shell;
///
/// let shell = Shell::new("/srv/scratch").allow(["ls", "wc"]).timeout(Duration::from_secs(10));
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(shell);
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct Shell {
    root: Root,
    allowed: Vec<String>,
    timeout: Duration,
    longest: usize,
    approval: Option<HumanInTheLoop>,
    runner: Arc<dyn ShellRunner>,
}

/// A program to run, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShellCommand {
    /// The program, which is allowed.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// How long it may take.
    pub timeout: Duration,
    /// How many bytes of its output are kept.
    pub longest: usize,
}

/// What a program has printed, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellOutput {
    /// The output and the errors, in this order.
    pub text: String,
    /// Its exit code; `None` if it was stopped.
    pub code: Option<i32>,
}

/// Runs the programs of a [`Shell`]: on this machine ([`LocalRunner`]), or in a container.
#[async_trait]
pub trait ShellRunner: Send + Sync + 'static {
    /// Runs a program. It keeps to the folder, the time limit and the length of the output.
    ///
    /// # Errors
    ///
    /// What the model reads if the program could not run or has not ended in time.
    async fn run(&self, command: ShellCommand) -> Result<ShellOutput, ToolError>;
}

/// What `shell` takes.
#[derive(Deserialize, JsonSchema)]
struct ShellCall {
    /// One program with its arguments, without pipes and redirections.
    command: String,
}

impl Shell {
    /// Runs programs in this folder, each for up to a minute, with up to 64 kilobytes of output. None is
    /// allowed yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            root: Root::new(folder),
            allowed: Vec::new(),
            timeout: Duration::from_secs(60),
            longest: 64 << 10,
            approval: Some(HumanInTheLoop::new(Approval::of([TOOL]))),
            runner: Arc::new(LocalRunner),
        }
    }

    /// Allows programs, by their names.
    #[must_use]
    pub fn allow(mut self, programs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed.extend(programs.into_iter().map(Into::into));
        self
    }

    /// Runs allowed programs without asking a person.
    #[must_use]
    pub fn without_approval(mut self) -> Self {
        self.approval = None;
        self
    }

    /// Sets how long a program may take.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Sets how many bytes of output the model reads.
    #[must_use]
    pub fn longest(mut self, bytes: usize) -> Self {
        self.longest = bytes;
        self
    }

    /// Runs the programs with another runner.
    #[must_use]
    pub fn runner(mut self, runner: impl ShellRunner) -> Self {
        self.runner = Arc::new(runner);
        self
    }

    fn checked(&self, line: &str) -> Result<ShellCommand, ToolError> {
        let mut words = words(line)?.into_iter();
        let program = words.next().unwrap_or_default();
        if !self.allowed.contains(&program) {
            return Err(ToolError::model(format!(
                "the program `{program}` is not allowed (allowed: {})",
                self.allowed.join(", ")
            )));
        }
        let arguments: Vec<String> = words.collect();
        for word in &arguments {
            // `--file=/etc/passwd` names a path, too.
            let path = word.split_once('=').map_or(&**word, |(_, value)| value);
            if path.starts_with('/') || path.starts_with('~') {
                return Err(ToolError::model(format!(
                    "`{word}` leaves the folder; name a path inside it"
                )));
            }
            self.root.resolve(path)?;
        }
        Ok(ShellCommand {
            program,
            arguments,
            folder: self.root.folder().to_owned(),
            timeout: self.timeout,
            longest: self.longest,
        })
    }

    async fn run(&self, line: &str) -> Result<String, ToolError> {
        let output = self.runner.run(self.checked(line)?).await?;
        Ok(match output.code {
            Some(0) => output.text,
            Some(code) => format!("{}\n(exit code {code})", output.text),
            None => format!("{}\n(stopped by a signal)", output.text),
        })
    }
}

#[middleware]
impl AgentMiddleware for Shell {
    fn tools(&self) -> Tools {
        let shell = self.clone();
        let run = move |call: ShellCall| {
            let shell = shell.clone();
            async move { shell.run(&call.command).await }
        };
        let about = format!(
            "Runs one program in a folder. Allowed programs: {}.",
            self.allowed.join(", ")
        );
        Tools::new().with(FnTool::new(TOOL, about, run))
    }

    fn interrupts(&self) -> bool {
        self.approval.is_some()
    }

    fn decisions(&self, tool: &str) -> Vec<DecisionKind> {
        let approval = self.approval.as_ref();
        approval.map_or_else(Vec::new, |approval| approval.decisions(tool))
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        match &self.approval {
            // What is refused anyway is not a question to a person.
            Some(approval) if call.name == TOOL && self.passes(&call) => {
                approval.around_tool(call, cx, next).await
            }
            _ => next.run(call).await,
        }
    }
}

impl Shell {
    fn passes(&self, call: &ToolCall) -> bool {
        let line = call.arguments.get("command").and_then(|line| line.as_str());
        line.is_some_and(|line| self.checked(line).is_ok())
    }
}

impl std::fmt::Debug for Shell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell")
            .field("folder", &self.root.folder())
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}
