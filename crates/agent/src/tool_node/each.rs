//! Each call in a task of its own.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::around::Around;
use super::call::{Answer, pause};
use super::{Answers, ToolNode};
use crate::approval::{self, Decided};
use crate::join_all::join_all;
use crate::pending::pending;
use crate::{MiddlewareFields, ToolContext};
use langgraph::error::NodeError;
use langgraph::graph::{ConfiguredWorker, IntoWorker, KeyInfo, NodeExt, ToolInfo, worker};
use langgraph::message::{Message, ToolCall};
use langgraph::node::{Command, Context, EachItem, NodeRun};
use langgraph::state::{Field, HasMessages, State};

impl ToolNode {
    pub(super) async fn answer_one<S: State>(
        &self,
        call: &ToolCall,
        state: &S,
        messages: &[Message],
        write: &(dyn Fn(Vec<Message>) -> S::Update + Send + Sync),
        cx: &Context,
        around: &Around<S>,
    ) -> Result<Answers<S>, NodeError> {
        self.approvals.check(&self.tools)?;
        let key = approval::key(call);
        let approvals = &self.approvals;
        let decided = approvals
            .decide(call, key, approval::turn(messages), &self.tools, cx)
            .await?;
        let mut result = None;
        let mut written = MiddlewareFields::default();
        if let Decided::Run { call, .. } = &decided {
            let context = ToolContext::new(cx, call)
                .with_state(state)
                .with_messages(messages)
                .with_tools(&self.tools)
                .with_fields((around.fields)(state));
            let run = self.run_call(&context, &around.chain);
            result = join_all([Box::pin(run)]).await.pop();
            written = context.fields().take();
        }
        let answer: Answer<S> = self.answer_decided(call, &decided, result)?;
        pause(cx)?;
        let update = Command::update(write(vec![answer.message]));
        let written = around.write(written)?.map(Command::update);
        let commands = [update].into_iter().chain(written).chain(answer.command);
        Ok(Answers(commands.collect()))
    }
}

pub(super) type Read<S> = Arc<dyn for<'a> Fn(&'a S) -> &'a [Message] + Send + Sync>;
pub(super) type Write<S> = Arc<dyn Fn(Vec<Message>) -> <S as State>::Update + Send + Sync>;

/// Runs the node as one task for each call.
pub(super) fn each_call<S: State>(node: ToolNode, read: Read<S>, write: Write<S>) -> EachItem<S> {
    let node = Arc::new(node);
    let (find, add) = (Arc::clone(&read), Arc::clone(&write));
    let calls = move |state: &S| {
        if answers_one_by_one(state, &*add) {
            pending(find(state)).unwrap_or_default()
        } else {
            Vec::new()
        }
    };
    EachItem::new(calls, move |call: ToolCall, state: &S, cx: &Context| {
        let (node, read, write) = (Arc::clone(&node), Arc::clone(&read), Arc::clone(&write));
        NodeRun::future(async move {
            match still_pending(read(state), call) {
                Some(call) => {
                    let plain = Around::default();
                    node.answer_one(&call, state, read(state), &*write, cx, &plain)
                        .await
                }
                None => Ok(Answers(Vec::new())),
            }
        })
    })
}

/// Returns true if several tasks may write answers: every field that they write has a reducer.
fn answers_one_by_one<S: State>(state: &S, write: &dyn Fn(Vec<Message>) -> S::Update) -> bool {
    let written = state.written(&write(Vec::new()));
    let mut fields = written.iter().filter_map(|index| state.fields().get(index));
    fields.all(Field::is_reduced)
}

/// Returns the call as the state has it now, if it still has no answer: a person may have changed
/// the chat since the call became a task.
fn still_pending(messages: &[Message], call: ToolCall) -> Option<ToolCall> {
    let now = pending(messages).unwrap_or_default();
    let same = |other: &&ToolCall| other.id == call.id && other.name == call.name;
    let mut found = now.iter().filter(same);
    match (found.next(), found.next()) {
        // Calls that share an id cannot be distinguished.
        (Some(_), Some(_)) => Some(call),
        (now, _) => now.cloned(),
    }
}

pub(super) type Answering<'a, S> =
    Pin<Box<dyn Future<Output = Result<Answers<S>, NodeError>> + Send + 'a>>;

/// Gives a closure the lifetimes of a worker.
pub(super) fn borrowing<S: State, F>(run: F) -> F
where
    F: for<'a> Fn(ToolCall, &'a S, &'a Context) -> Answering<'a, S>,
{
    run
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByToolNode {}

#[diagnostic::do_not_recommend]
impl<S: HasMessages> IntoWorker<S, ToolCall, ByToolNode> for ToolNode {
    fn into_worker(self) -> ConfiguredWorker<S, ToolCall> {
        self.into_worker_inside(Around::default())
    }
}

impl ToolNode {
    /// Converts into the worker of an agent, inside middleware.
    pub(crate) fn into_worker_inside<S: HasMessages>(
        self,
        around: Around<S>,
    ) -> ConfiguredWorker<S, ToolCall> {
        let asks = self.asks() || around.chain.iter().any(|one| one.interrupts());
        let tools = self.infos(&around.chain);
        let approved = Self::approved(&tools);
        let (node, around) = (Arc::new(self), Arc::new(around));
        let worker = worker(borrowing(move |call: ToolCall, state: &S, cx: &Context| {
            let (node, around) = (Arc::clone(&node), Arc::clone(&around));
            Box::pin(async move {
                let write = &S::update_from_messages;
                node.answer_one(&call, state, state.messages(), write, cx, &around)
                    .await
            })
        }));
        with_tools(worker, tools, approved, asks)
    }
}

/// Declares what a worker runs, and about what it asks a person.
pub(super) fn with_tools<S: State>(
    worker: ConfiguredWorker<S, ToolCall>,
    tools: Vec<ToolInfo>,
    approved: Vec<KeyInfo>,
    asks: bool,
) -> ConfiguredWorker<S, ToolCall> {
    let worker = worker.with(|node| node.runs_tools(tools).keys(approved));
    // A run without a checkpointer is refused at its start.
    if asks {
        return worker.with(NodeExt::interrupts);
    }
    worker
}
