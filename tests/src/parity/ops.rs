//! A node of a case: it carries out the operations it is described by.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use langgraph::error::NodeError;
use langgraph::node::{IntoOutput, IntoTargets, Node, NodeRun, Send, Target};
use langgraph::policy::{ErrorHandler, NodeFailure};
use langgraph::{Command, Context, Next};
use serde_json::{Map, Value};

use super::case::{FailKind, NodeSpec, Op};
use super::expr::{BadCase, Scope, To};
use super::schema::Schema;
use super::state::{Dynamic, DynamicUpdate};
use super::world::World;
use super::writes;

/// The failure of a `fail` operation.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Failed {
    pub(super) message: String,
    pub(super) kind: FailKind,
}

/// A node that carries out its operations.
#[derive(Debug)]
pub(super) struct OpsNode {
    pub(super) spec: Arc<NodeSpec>,
    /// The node's name, behind those of the nodes around its graph.
    pub(super) path: String,
    /// The fields of its graph.
    pub(super) schema: Arc<Schema>,
    /// The fields of the graph around.
    pub(super) outer: Option<Arc<Schema>>,
    pub(super) world: Arc<World>,
}

impl Node<Dynamic> for OpsNode {
    fn run<'a>(&'a self, state: &'a Dynamic, cx: &'a Context) -> NodeRun<'a, Dynamic> {
        NodeRun::future(async move {
            let input = state.input(self.spec.input_fields.as_ref());
            let run = self.world.start(&self.path);
            let scope = Scope {
                run,
                ..Scope::of(&input, &self.spec.name)
            };
            let said = execute(&self.spec.ops, scope, cx).await?;
            Ok::<_, NodeError>(self.command(said))
        })
    }
}

/// The node's error handler.
#[derive(Clone, Debug)]
pub(super) struct OpsHandler(pub(super) Arc<OpsNode>);

/// Marks this handler, as others are functions.
#[derive(Debug)]
pub(super) enum ByOps {}

impl ErrorHandler<Dynamic, ByOps> for OpsHandler {
    const MAY_GOTO: bool = true;

    fn handle<'a>(
        &'a self,
        state: &'a Dynamic,
        failure: &'a NodeFailure,
        cx: &'a Context,
    ) -> NodeRun<'a, Dynamic> {
        let node = &*self.0;
        NodeRun::future(async move {
            let input = state.input(node.spec.input_fields.as_ref());
            let message = failure.error.to_string();
            let scope = Scope {
                run: node.world.start(&format!("{}!", node.path)),
                error: Some((&message, &failure.node)),
                ..Scope::of(&input, &node.spec.name)
            };
            let ops = node.spec.error_handler.as_deref().unwrap_or_default();
            let said = execute(ops, scope, cx).await?;
            // In Python the edges of a node that has failed are not followed.
            Ok::<_, NodeError>(if said.goto.is_empty() {
                (writes::command(said.writes), Next::End).into_output()?
            } else {
                add_goto(writes::command(said.writes), said.goto, &node.schema).into_output()?
            })
        })
    }
}

/// What operations have collected.
#[derive(Debug, Default)]
struct Said {
    writes: Map<String, Value>,
    goto: Vec<To>,
    to_parent: bool,
}

impl OpsNode {
    /// In Python a goto adds to the edges, and a command for the graph around takes all with it.
    fn command(&self, said: Said) -> Command<Dynamic> {
        if said.to_parent {
            let schema = self.outer.as_ref().unwrap_or(&self.schema);
            let outer = add_goto(writes::command(said.writes), said.goto, schema);
            let leaving = DynamicUpdate {
                leaves: true,
                ..DynamicUpdate::default()
            };
            return Command::parent(outer.and_edges()).and_update(leaving);
        }
        add_goto(writes::command(said.writes), said.goto, &self.schema).and_edges()
    }
}

fn add_goto(command: Command<Dynamic>, goto: Vec<To>, schema: &Arc<Schema>) -> Command<Dynamic> {
    if goto.is_empty() {
        return command;
    }
    command.and_goto(targets(goto, schema))
}

/// The targets as the library takes them.
pub(super) fn targets(places: Vec<To>, schema: &Arc<Schema>) -> Vec<Target<Dynamic>> {
    let target = |place| match place {
        To::Name(name) => name.into_targets(),
        To::Send(node, argument) => {
            Send::state(node, Dynamic::sent(schema, argument)).into_targets()
        }
    };
    places.into_iter().flat_map(target).collect()
}

async fn execute(ops: &[Op], outer: Scope<'_>, cx: &Context) -> Result<Said, NodeError> {
    let mut said = Said::default();
    let mut answers: Vec<Value> = Vec::new();
    let mut left = vec![ops.iter()];
    while let Some(ops) = left.last_mut() {
        let Some(op) = ops.next() else {
            left.pop();
            continue;
        };
        let scope = Scope {
            answers: &answers,
            ..outer
        };
        match op {
            Op::Write { field, value } => {
                said.writes.insert(field.clone(), scope.eval(value)?);
            }
            Op::Goto { to, graph } => {
                said.goto.extend(scope.targets(to)?);
                said.to_parent |= graph.is_some();
            }
            Op::Command { graph } => said.to_parent |= graph.is_some(),
            Op::Raw { value } => return Err(BadCase::new("no raw answers", value).into()),
            Op::Interrupt { value } => {
                let answer = cx.interrupt_next(&scope.eval(value)?)?;
                answers.push(answer);
            }
            Op::Fail {
                message,
                times,
                kind,
                reached,
            } => {
                let count = reached.fetch_add(1, Ordering::Relaxed) + 1;
                if times.is_none_or(|times| count <= times) {
                    let (message, kind) = (message.clone(), *kind);
                    return Err(Failed { message, kind }.into());
                }
            }
            Op::Sleep { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Op::Emit { value } => cx.emit(scope.eval(value)?).await?,
            Op::When {
                cond,
                then,
                otherwise,
            } => {
                let ops = if scope.test(cond)? { then } else { otherwise };
                left.push(ops.iter());
            }
        }
    }
    Ok(said)
}
