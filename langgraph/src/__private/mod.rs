//! What expansions call. Not part of the public API: it changes without notice.

mod answer;
mod choice;
mod clone_field;
mod codec;
mod gotos;
mod needs;
mod parts;
mod reads;
mod shape;
mod worker_gotos;
mod writes;

use std::marker::PhantomData;

use crate::error::NodeError;
use crate::graph::{EdgeBound, Locations, StateGraph};
use crate::node::{IntoOutput, Item, NodeFuture, NodeRun, Output, Send, Worker};
use crate::state::State;

pub use self::answer::{FutureAnswer, Of, PlainAnswer, TryFutureAnswer, ask};
pub use self::choice::{
    AddMap, AddSwitch, add_choice, add_map, add_switch, ask_first, ask_last, ask_map,
};
pub use self::clone_field::{CloneField, NotClone};
pub use self::codec::{CodecOf, WithCodec, WithoutCodec};
pub use self::gotos::{
    Base, FollowsEdges, JumpingMethod, KnownNode, NodeIn, UnknownGoto, UnknownKind, without_options,
};
pub use self::needs::{Needed, NeedsUnknown, needed};
pub use self::parts::{Part, Parts};
pub use self::reads::{
    Both, ReadsWrites, UnknownFields, UnknownReads, UsedFields, UsesFields, WrittenBefore,
    declare_fields, reading,
};
pub use self::shape::{Shaped, UnknownShape};
pub use self::worker_gotos::{AddedWorker, JumpingWorkerMethod, KnownWorker, WorkerIn, add_worker};
pub use self::writes::{
    Added, DeclaresWrites, FieldAt, Found, Name, No, Pair, PlainField, UnknownWrites, WrittenOnce,
    add, pair,
};
pub use crate::graph::Pick;
pub use crate::node::{Checked, Returns, ReturnsNoAnswer};
pub use crate::state::StoredField;
pub use langgraph_core::state::derive::{
    ByFunction, ByValue, IntoReducer, ReadField, closure_reducer, forget_new_ids, give_ids,
    merge_field, read_fields, reducer, reducers, see_messages, the_messages, written_messages,
};
pub use serde;
pub use std::boxed::Box;
pub use std::string::String;
pub use std::vec::Vec;

/// Returns the name of a generic type.
pub fn generic_name(name: &str, parameters: &[String]) -> String {
    format!("{name}<{}>", parameters.join(", "))
}

/// Creates an empty graph in which every route is known.
pub fn closed<S: State + Default>() -> StateGraph<S> {
    StateGraph::new().closed()
}

/// Notes where the graph and its nodes are written.
pub fn written_at<S: State>(graph: &mut StateGraph<S>, file: &'static str, places: &'static str) {
    graph.topology.locations = Locations::new(file, places);
}

/// Adds edges.
pub fn add_edges<S: State>(graph: &mut StateGraph<S>, edges: &[(&str, &str)]) {
    for (from, to) in edges {
        graph.add_edge(*from, *to);
    }
}

/// Adds edges that wait for several nodes.
pub fn add_joins<S: State>(graph: &mut StateGraph<S>, joins: &[(&[&str], &str)]) {
    for (from, to) in joins {
        graph.add_edge(from.to_vec(), *to);
    }
}

/// Adds bounds of edges; one without an exit has an empty name there.
pub fn add_bounds<S: State>(graph: &mut StateGraph<S>, bounds: &[(&str, &str, u32, &str)]) {
    for (from, to, at_most, exit) in bounds {
        let bound = EdgeBound::new(from, to, *at_most);
        graph.add_bound(if exit.is_empty() {
            bound
        } else {
            bound.or_else(exit)
        });
    }
}

/// Declares the jump targets of a node.
pub fn add_destinations<S: State>(graph: &mut StateGraph<S>, source: &str, targets: &[&str]) {
    graph.add_destinations(source, targets.iter().copied());
}

/// Sends an item to `worker`.
pub fn send<S: State, T: Item>(worker: &Worker<T>, item: T) -> Send<S> {
    Send::to(worker, item)
}

/// Creates one send per item.
pub fn sends<S: State, I: IntoIterator>(
    items: I,
    send: impl FnMut(I::Item) -> Send<S>,
) -> Vec<Send<S>> {
    items.into_iter().map(send).collect()
}

/// Gives all mentions of one node the same type, so that a generic node is inferred once.
pub fn mentions<T, const N: usize>(_: [&T; N]) -> Mentions<T> {
    Mentions(PhantomData)
}

/// The type of a node that is mentioned several times.
#[derive(Debug)]
pub struct Mentions<T>(PhantomData<fn() -> T>);

impl<T> Mentions<T> {
    /// Returns the node itself.
    pub fn of(self, node: T) -> T {
        node
    }
}

/// Checks that a node of a graph over `S` may return `O`.
pub fn answers<S, O: IntoOutput<S>>() {}

/// Boxes the future of a `#[node]` function over `&S`. That `S` is a state follows from its output: where
/// the derive is missing, the output is a type that does not exist, and rustc checks no bound of it.
pub fn node_future<'a, S, O: IntoOutput<S>, M>(
    body: impl Future<Output = O> + std::marker::Send + 'a,
) -> NodeFuture<'a, S, O, M> {
    NodeFuture::new(body)
}

/// The output type of a method node, checked once.
#[derive(Debug)]
pub struct AnswerOf<S: State, O> {
    convert: fn(O) -> Result<Output<S>, NodeError>,
    /// True if the output can name the next node.
    pub may_goto: bool,
}

/// Returns how `O` converts to the output of a node of a graph over `S`.
pub fn answer_of<S: State, O: IntoOutput<S>>() -> AnswerOf<S, O> {
    AnswerOf {
        convert: O::into_output,
        may_goto: O::MAY_GOTO,
    }
}

impl<S: State, O> AnswerOf<S, O> {
    /// Creates a run that has already ended.
    pub fn ready<'a>(self, answer: O) -> NodeRun<'a, S> {
        NodeRun::ready((self.convert)(answer))
    }

    /// Creates a run from a future.
    pub fn future<'a>(
        self,
        body: impl Future<Output = O> + std::marker::Send + 'a,
    ) -> NodeRun<'a, S>
    where
        O: 'a,
    {
        NodeRun::future(async move { (self.convert)(body.await) })
    }
}

/// The update that answers the tool calls that a state leaves open; see
/// [`State::dismiss`](crate::state::State::dismiss).
pub fn dismiss<S: crate::state::HasMessages>(state: &S) -> Option<S::Update> {
    let closing = crate::message::closing_update(state.messages());
    (!closing.is_empty()).then(|| S::update_from_messages(closing))
}
