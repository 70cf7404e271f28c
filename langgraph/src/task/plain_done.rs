//! The results of plain tasks.

use super::task_result::Finished;
use crate::graph::routes::Routed;
use crate::node::{Context, Output};
use crate::state::State;

/// What a plain task has done, whose update is merged.
#[derive(Clone)]
pub(crate) struct PlainDone<S: State> {
    /// The update, if it is stored or read.
    pub(crate) update: Option<S::Update>,
    /// Whether it wrote a field.
    pub(crate) wrote: bool,
    /// The arm that its only router has picked, if it has one.
    pub(crate) picked: Option<usize>,
    /// True if the node did not run, because its cache had the output.
    pub(crate) cached: bool,
}

impl<S: State> PlainDone<S> {
    #[inline]
    pub(crate) fn new(
        (update, wrote): (Option<S::Update>, bool),
        picked: Option<usize>,
        cx: &Context,
    ) -> Self {
        Self {
            update,
            wrote,
            picked,
            cached: cx.is_from_cache(),
        }
    }
}

impl<S: State> From<PlainDone<S>> for Finished<S> {
    #[inline]
    fn from(done: PlainDone<S>) -> Self {
        Self {
            output: done.update.map_or_else(Output::none, Output::update),
            routes: done.picked.map_or(Routed::None, Routed::arm),
            cached: done.cached,
            merged: Some(done.wrote),
        }
    }
}
