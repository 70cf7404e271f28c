//! The results of tasks.

use crate::error::{NodeError, Panicked};
use crate::graph::plan::Plan;
use crate::graph::routes::Routed;
use crate::graph::targets::check_jump;
use crate::interrupt::Interrupts;
use crate::node::{Context, Jump, NodeId, Output, caught};
use crate::state::{State, Write, Writes};

/// The result of a task.
pub(crate) enum TaskResult<S: State> {
    Finished(Finished<S>),
    /// The task waits for answers.
    Interrupted(Box<OpenInterrupts<S>>),
    Failed(NodeError),
}

/// The result of a finished task.
#[derive(Clone)]
pub(crate) struct Finished<S: State> {
    pub(crate) output: Output<S>,
    /// The answers of its routers, if they ran before the commit.
    pub(crate) routes: Routed<S>,
    /// True if the node did not run, because its cache had the output.
    pub(crate) cached: bool,
    /// Whether it wrote a field, if its writes are in the state already.
    pub(crate) merged: Option<bool>,
}

/// The interrupts of a task.
pub(crate) struct OpenInterrupts<S: State> {
    pub(crate) interrupts: Interrupts,
    /// The node's result, if its routers interrupted: the node does not run again.
    pub(crate) ran: Option<Finished<S>>,
    /// Why the given answer was refused.
    pub(crate) refused: Option<NodeError>,
}

impl<S: State> Finished<S> {
    pub(crate) fn new(output: Output<S>) -> Self {
        Self {
            output,
            routes: Routed::None,
            cached: false,
            merged: None,
        }
    }

    /// Takes the result, and leaves an empty one.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(Output::none()))
    }

    /// Returns a copy, and keeps the writes only if they are `needed` here.
    pub(crate) fn copy(&mut self, needed: bool) -> Self {
        let writes = &mut self.output.writes;
        let writes = if needed {
            writes.clone()
        } else {
            std::mem::take(writes)
        };
        Self {
            output: Output {
                writes,
                jump: self.output.jump.clone(),
            },
            routes: self.routes.clone(),
            cached: self.cached,
            ..Self::new(Output::none())
        }
    }

    /// Returns the task's result after that of its routers.
    pub(crate) fn routed(mut self, routed: Result<Routed<S>, TaskResult<S>>) -> TaskResult<S> {
        match routed {
            Ok(routes) => {
                self.routes = routes;
                self.into()
            }
            Err(ended) => ended.after(Some(self)),
        }
    }
}

impl<S: State> From<Finished<S>> for TaskResult<S> {
    fn from(done: Finished<S>) -> Self {
        Self::Finished(done)
    }
}

impl<S: State> From<NodeError> for TaskResult<S> {
    fn from(error: NodeError) -> Self {
        Self::Failed(error)
    }
}

impl<S: State> TaskResult<S> {
    /// Creates the result of a task that waits for answers.
    pub(crate) fn interrupted(interrupts: Interrupts) -> Self {
        Self::Interrupted(Box::new(OpenInterrupts {
            interrupts,
            ran: None,
            refused: None,
        }))
    }

    /// Returns what the node has done.
    pub(crate) fn finished(&self) -> Option<&Finished<S>> {
        match self {
            Self::Finished(done) => Some(done),
            Self::Interrupted(open) => open.ran.as_ref(),
            Self::Failed(_) => None,
        }
    }

    /// Returns the output of a task that has finished.
    #[inline]
    pub(crate) fn output_mut(&mut self) -> Option<&mut Output<S>> {
        match self {
            Self::Finished(done) => Some(&mut done.output),
            _ => None,
        }
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted(_))
    }

    /// Turns the result of routers into the task's result, after the node has done `done`.
    pub(crate) fn after(mut self, done: Option<Finished<S>>) -> Self {
        if let Self::Interrupted(open) = &mut self {
            open.ran = done;
        }
        self
    }

    /// Returns true if a command ends the graph.
    pub(crate) fn leaves_graph(&self) -> bool {
        matches!(self, Self::Finished(done) if matches!(done.output.jump, Jump::Parent(_)))
    }
}

/// Turns a node's output and its interrupts into the task's result.
///
/// Code of the state may panic here: that fails the task, not the program.
#[inline]
pub(crate) fn classify<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    state: &S,
    cx: &Context,
    answer: Result<Output<S>, Box<NodeError>>,
) -> TaskResult<S> {
    let mut done = match answer {
        Ok(output) if !cx.has_open_interrupt() => Finished::new(output),
        answer => match without_interrupt(answer.map_err(|error| *error), cx) {
            Ok(output) => Finished::new(output),
            Err(ended) => return ended,
        },
    };
    done.cached = cx.is_from_cache();
    let prepared = caught(|| prepare(state, &mut done.output.writes)).map_err(NodeError::from);
    match prepared.and_then(|()| check_jump(plan, node, &done.output.jump)) {
        Ok(()) => TaskResult::Finished(done),
        Err(error) => TaskResult::Failed(error),
    }
}

/// Accepts an output only if no interrupt is open.
#[allow(clippy::result_large_err)] // moved once, where a task ends
pub(crate) fn without_interrupt<T, S: State>(
    answer: Result<T, NodeError>,
    cx: &Context,
) -> Result<T, TaskResult<S>> {
    match (answer, cx.take_questions()) {
        (Ok(answer), None) => Ok(answer),
        (Ok(_), Some(interrupts)) => {
            let key = interrupts.own.map_or_else(
                || "a subgraph".to_owned(),
                |interrupt| format!("`{}`", interrupt.key),
            );
            Err(TaskResult::Failed(NodeError::msg(format!(
                "went on without the answer to {key}; pass the error on with `?`"
            ))))
        }
        // It did not wait for the answer.
        (Err(error), Some(_)) if error.is::<Panicked>() => Err(TaskResult::Failed(error)),
        (Err(_), Some(interrupts)) => Err(TaskResult::Interrupted(Box::new(OpenInterrupts {
            interrupts,
            ran: None,
            refused: cx.take_refused(),
        }))),
        (Err(error), None) => Err(TaskResult::Failed(error)),
    }
}

/// Fixes random values in writes, before they are stored or merged.
pub(crate) fn prepare<S: State>(state: &S, writes: &mut Writes<S>) {
    for write in writes.as_mut_slice() {
        match write {
            Write::Update(update) | Write::Overwrite(update) => state.prepare(update),
            Write::State(whole) => whole.prepare_whole(),
        }
    }
}

/// Prepares an input for merging: a state becomes an update, so that it goes through the reducers,
/// and random values are fixed.
pub(crate) fn normalize_input<S: State>(plan: &Plan<S>, input: &mut Output<S>) {
    for write in input.writes.as_mut_slice() {
        if let Write::State(state) = write {
            *write = Write::Update(S::clone(state).into());
        }
        if let Write::Update(update) | Write::Overwrite(update) = write {
            plan.initial.prepare(update);
        }
    }
}
