//! Debugging aids that print the state: [`DebugNode`], a node, and [`StateLog`], a middleware.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use langgraph::node::{Context, Node, NodeRun, Output};
use langgraph::policy::{Middleware, NodeCall};
use langgraph::state::State;

/// The output for the lines. If the writer fails, the run does not.
struct Lines(Mutex<Box<dyn Write + Send>>);

impl Lines {
    fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Mutex::new(Box::new(writer)))
    }

    fn write(&self, line: fmt::Arguments<'_>) {
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(writer, "{line}").and_then(|()| writer.flush());
    }
}

/// A node that prints the state and changes nothing.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_testing::DebugNode;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph
///     .add_node("double", |n: &i64| n * 2)
///     .add_node("look", DebugNode::new()) // look (step 2): 42
///     .add_sequence(&["double", "look"]);
/// assert_eq!(graph.compile()?.invoke(21).await?, 42);
/// # Ok(())
/// # }
/// ```
pub struct DebugNode(Lines);

impl DebugNode {
    /// Prints to the standard error stream.
    pub fn new() -> Self {
        Self::to(io::stderr())
    }

    /// Prints to `writer`.
    pub fn to(writer: impl Write + Send + 'static) -> Self {
        Self(Lines::new(writer))
    }
}

impl Default for DebugNode {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for DebugNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DebugNode")
    }
}

impl<S: State + fmt::Debug> Node<S> for DebugNode {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        let Self(log) = self;
        log.write(format_args!(
            "{} (step {}): {state:#?}",
            cx.node(),
            cx.step()
        ));
        NodeRun::ready(Output::none())
    }
}

/// A [`Middleware`] that prints the input state of each node, and its result.
///
/// A run of `double` on 21 gives two lines:
///
/// ```text
/// [1] double <- 21
/// [1] double -> 1 write
/// ```
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_testing::StateLog;
///
/// let mut graph = StateGraph::<i64>::new();
/// graph
///     .add_node("double", |n: &i64| n * 2)
///     .add_sequence(&["double"])
///     .middleware(StateLog::new());
/// ```
pub struct StateLog(Lines);

impl StateLog {
    /// Prints to the standard error stream.
    pub fn new() -> Self {
        Self::to(io::stderr())
    }

    /// Prints to `writer`.
    pub fn to(writer: impl Write + Send + 'static) -> Self {
        Self(Lines::new(writer))
    }
}

impl Default for StateLog {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for StateLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateLog")
    }
}

impl<S: State + fmt::Debug> Middleware<S> for StateLog {
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
        let Self(log) = self;
        NodeRun::future(async move {
            let step = call.step();
            let name = match call.attempt() {
                1 => call.node().to_owned(),
                attempt => format!("{} (attempt {attempt})", call.node()),
            };
            match call.item() {
                None => log.write(format_args!("[{step}] {name} <- {:?}", call.state())),
                Some(item) => log.write(format_args!(
                    "[{step}] {name} <- {item} beside {:?}",
                    call.state()
                )),
            }
            let answer = call.run().await;
            match &answer {
                Ok(output) => {
                    let count = output.writes().len();
                    let writes = if count == 1 { "write" } else { "writes" };
                    log.write(format_args!("[{step}] {name} -> {count} {writes}"));
                }
                Err(error) => log.write(format_args!("[{step}] {name} -> failed: {error}")),
            }
            answer
        })
    }
}
