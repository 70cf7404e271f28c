//! Jumps: `Next` and `Command`.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::Output;
use super::target::{IntoTargets, Target};
use crate::error::{FormatError, NodeError};
use crate::state::codec::write_text;
use crate::state::{State, StateCodec, Write, Writes};
use langgraph_topology::END;

/// Where to go after a node, as the node returns it beside its update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Follow the node's edges.
    #[default]
    Continue,
    /// Go to that node instead of following the edges.
    Node(String),
    /// End this branch instead of following the edges.
    End,
}

impl Next {
    /// Go to the node of that name.
    pub fn node(name: impl Into<String>) -> Self {
        Self::Node(name.into())
    }

    pub(crate) fn into_jump<S: State>(self) -> Jump<S> {
        match self {
            Self::Continue => Jump::Edges,
            Self::Node(name) => Jump::to(vec![Target::Node(name.into())]),
            Self::End => Jump::End,
        }
    }
}

/// Writes and targets in one output.
///
/// `goto` replaces the node's edges; with [`and_edges`](Command::and_edges) both apply.
///
/// # Examples
///
/// ```
/// use langgraph::node::Command;
/// use langgraph::state::PlainUpdate;
///
/// let command: Command<u32> = Command::update(PlainUpdate(Some(1))).and_goto(["a", "b"]);
/// # let _ = command;
/// ```
#[derive(Clone)]
pub struct Command<S: State> {
    writes: Writes<S>,
    overwrites: Option<S::Update>,
    goto: Option<Vec<Target<S>>>,
    edges: bool,
    parent: Option<ParentCommand>,
}

impl_default!([S: State] Command<S> { writes, overwrites, goto, edges, parent });

impl<S: State> Command<S> {
    /// Merges `update` and follows the node's edges.
    pub fn update(update: S::Update) -> Self {
        Self::default().and_update(update)
    }

    /// Sets the fields of `update`, without their reducers.
    pub fn overwrite(update: S::Update) -> Self {
        Self::default().and_overwrite(update)
    }

    /// Goes to `targets` instead of following the node's edges.
    pub fn goto(targets: impl IntoTargets<S>) -> Self {
        Self::default().and_goto(targets)
    }

    /// Ends the run of this subgraph at once and passes `command` to the parent graph, as the
    /// output of the node that is this subgraph.
    ///
    /// The parent also receives what the subgraph has changed so far. The root graph has no parent:
    /// there the run fails with an error.
    ///
    /// The parent's state may be another type, so the type of the command is written out. In
    /// `graph!`, the node that is this subgraph declares its targets beside its edges.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Desk {
    ///     #[reducer(append)]
    ///     log: Vec<String>,
    /// }
    ///
    /// #[node]
    /// async fn clerk(_: &Desk) -> Command<Desk> {
    ///     let note = DeskUpdate::default().log(vec!["too difficult for me".to_owned()]);
    ///     Command::parent(Command::<Desk>::update(note).and_goto("chief"))
    /// }
    ///
    /// #[node]
    /// async fn file(_: &Desk) {}
    ///
    /// #[node]
    /// async fn chief(_: &Desk) -> DeskUpdate {
    ///     DeskUpdate::default().log(vec!["done".to_owned()])
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let office = graph! { START => clerk => goto [END] }.compile()?;
    /// let graph = graph! {
    ///     START => office => file => END;
    ///     office => goto [chief];
    ///     chief => END;
    /// };
    /// let desk = graph.compile()?.invoke(()).await?;
    /// assert_eq!(desk.log, ["too difficult for me", "done"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn parent<P: State>(command: Command<P>) -> Self {
        Self {
            parent: Some(ParentCommand::new(command)),
            ..Self::default()
        }
    }

    pub(super) fn writing(writes: Writes<S>) -> Self {
        Self {
            writes,
            ..Self::default()
        }
    }

    /// Also merges `update`.
    #[must_use]
    pub fn and_update(mut self, update: S::Update) -> Self {
        self.writes.push(Write::Update(update));
        self
    }

    /// Also sets the fields of `update`, without their reducers.
    #[must_use]
    pub fn and_overwrite(mut self, update: S::Update) -> Self {
        self.overwrites = Some(update);
        self
    }

    /// Also goes to `targets`.
    #[must_use]
    pub fn and_goto(mut self, targets: impl IntoTargets<S>) -> Self {
        self.goto
            .get_or_insert_default()
            .extend(targets.into_targets());
        self
    }

    /// Also follows the node's edges, beside the targets of `goto`.
    #[must_use]
    pub fn and_edges(mut self) -> Self {
        self.edges = true;
        self
    }

    pub(crate) fn into_parts(self) -> Output<S> {
        let mut writes = self.writes;
        if let Some(update) = self.overwrites {
            // Last, so that it overrides this command's own update.
            writes.push(Write::Overwrite(update));
        }
        let jump = match (self.parent, self.goto) {
            (Some(parent), _) => Jump::Parent(Box::new(parent)),
            (None, None) => Jump::Edges,
            (None, Some(targets)) => Jump::To(Box::new(JumpTo {
                targets,
                edges: self.edges,
            })),
        };
        Output { writes, jump }
    }
}

impl_debug!([S: State] Command<S>, |command|
    updates = command.writes.len(), overwrites = command.overwrites.is_some(),
    goto = command.goto, edges = command.edges, parent = command.parent);

/// A command for the parent graph, with its state type erased.
#[derive(Clone)]
pub(crate) struct ParentCommand {
    form: ParentForm,
    state: Arc<str>,
}

#[derive(Clone)]
enum ParentForm {
    Value {
        command: Arc<dyn Any + std::marker::Send + Sync>,
        text: fn(&dyn Any) -> Result<String, FormatError>,
    },
    /// As read from a thread.
    Stored(String),
}

impl ParentCommand {
    fn new<P: State>(command: Command<P>) -> Self {
        Self {
            form: ParentForm::Value {
                command: Arc::new(command),
                text: text::<P>,
            },
            state: std::any::type_name::<P>().into(),
        }
    }

    pub(super) fn stored(state: String, text: String) -> Self {
        Self {
            form: ParentForm::Stored(text),
            state: state.into(),
        }
    }

    pub(super) fn state_name(&self) -> &str {
        &self.state
    }

    /// Returns the stored form of the command.
    pub(super) fn to_text(&self) -> Result<String, FormatError> {
        match &self.form {
            ParentForm::Value { command, text } => text(&**command),
            ParentForm::Stored(text) => Ok(text.clone()),
        }
    }

    /// Returns the writes and targets of the command, if the parent is a graph over `P`.
    pub(crate) fn into_output<P: State>(self, initial: &P) -> Result<Output<P>, NodeError> {
        let name = std::any::type_name::<P>();
        let wrong = || {
            NodeError::msg(format!(
                "a command for a parent graph over `{}` reached one over `{name}`",
                self.state
            ))
        };
        match self.form {
            ParentForm::Value { command, .. } => {
                let command = command.downcast::<Command<P>>().map_err(|_| wrong())?;
                Ok(Arc::unwrap_or_clone(command).into_parts())
            }
            ParentForm::Stored(_) if *self.state != *name => Err(wrong()),
            ParentForm::Stored(text) => {
                let read = codec::<P>()?.read_text(&text)?;
                Ok(Output::from_wire(read, initial, &|node| node)?)
            }
        }
    }
}

fn codec<P: State>() -> Result<StateCodec<P>, FormatError> {
    P::codec().ok_or_else(|| {
        FormatError::new(format!(
            "`{}`, the state of the graph around, has no codec",
            std::any::type_name::<P>()
        ))
    })
}

fn text<P: State>(command: &dyn Any) -> Result<String, FormatError> {
    let Some(command) = command.downcast_ref::<Command<P>>() else {
        return Err(FormatError::new("a command of another state"));
    };
    let output = command.clone().into_parts();
    write_text(&output.to_wire(codec::<P>()?)?)
}

impl_debug!([] ParentCommand, |command| "Command<{}>", command.state);

/// The targets of an output.
#[derive(Clone)]
pub(crate) enum Jump<S: State> {
    /// Follow the node's edges.
    Edges,
    /// End the branch.
    End,
    /// To these targets.
    To(Box<JumpTo<S>>),
    /// Leave this graph.
    Parent(Box<ParentCommand>),
}

#[derive(Clone)]
pub(crate) struct JumpTo<S: State> {
    pub(crate) targets: Vec<Target<S>>,
    pub(crate) edges: bool,
}

impl<S: State> Jump<S> {
    pub(crate) fn to(targets: Vec<Target<S>>) -> Self {
        Self::To(Box::new(JumpTo {
            targets,
            edges: false,
        }))
    }

    /// Combines two jumps; an explicit one wins over "follow the edges".
    #[allow(clippy::match_same_arms)] // the order of the arms is the rule
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Parent(parent), _) | (_, Self::Parent(parent)) => Self::Parent(parent),
            (Self::Edges, jump) | (jump, Self::Edges) => jump,
            (Self::End, jump) | (jump, Self::End) => jump,
            (Self::To(mut first), Self::To(second)) => {
                first.targets.extend(second.targets);
                first.edges |= second.edges;
                Self::To(first)
            }
        }
    }
}

impl<S: State> fmt::Debug for Jump<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edges => f.write_str("along the edges"),
            Self::End => f.write_str(END),
            Self::To(to) => {
                fmt::Debug::fmt(&to.targets, f)?;
                f.write_str(if to.edges { " and along the edges" } else { "" })
            }
            Self::Parent(parent) => write!(f, "parent: {parent:?}"),
        }
    }
}
