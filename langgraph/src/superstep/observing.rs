//! What a superstep does for the observers of its run, and what it does without any.
//!
//! The loop is compiled for both: the future of a run that nobody observes has no room for what
//! observers do.

use super::end::Stop;
use super::engine::Engine;
use super::merged::Merged;
use crate::state::State;

/// Whether the loop has observers.
pub(super) trait Observing<S: State> {
    const OBSERVES: bool;

    /// Emits the start of the tasks.
    fn tasks_begin(engine: &mut Engine<S>) -> impl Future<Output = ()> + Send;

    /// Stores and emits the end of the only task.
    fn only_task_ended(engine: &mut Engine<S>) -> impl Future<Output = Result<(), Stop>> + Send;

    /// Calls the routers that see the merged state.
    fn route(
        engine: &mut Engine<S>,
        merged: Merged,
    ) -> impl Future<Output = Result<(), Stop>> + Send;

    /// Stores and emits the end of the superstep.
    fn superstep_ended(
        engine: &mut Engine<S>,
        merged: Merged,
    ) -> impl Future<Output = Result<(), Stop>> + Send;
}

/// The run's events or spans are read, or its thread is stored.
pub(super) struct Observed;

/// The run only changes its state.
pub(super) struct Unobserved;

impl<S: State> Observing<S> for Observed {
    const OBSERVES: bool = true;

    async fn tasks_begin(engine: &mut Engine<S>) {
        if engine.position.scope.emitter.is_some() {
            let tasks = &engine.frontier.tasks;
            engine.observer.tasks_begin(&engine.position, tasks).await;
        }
    }

    async fn only_task_ended(engine: &mut Engine<S>) -> Result<(), Stop> {
        engine.only_task_ended().await
    }

    async fn route(engine: &mut Engine<S>, merged: Merged) -> Result<(), Stop> {
        engine.route(merged).await
    }

    async fn superstep_ended(engine: &mut Engine<S>, merged: Merged) -> Result<(), Stop> {
        let (position, frontier) = (&engine.position, &engine.frontier);
        let ended = engine
            .observer
            .superstep_ended(position, frontier, merged.wrote);
        Ok(ended.await?)
    }
}

impl<S: State> Observing<S> for Unobserved {
    const OBSERVES: bool = false;

    async fn tasks_begin(_: &mut Engine<S>) {}

    async fn only_task_ended(_: &mut Engine<S>) -> Result<(), Stop> {
        Ok(())
    }

    async fn route(engine: &mut Engine<S>, merged: Merged) -> Result<(), Stop> {
        // Chains have called most routers.
        Box::pin(engine.route(merged)).await
    }

    async fn superstep_ended(_: &mut Engine<S>, _: Merged) -> Result<(), Stop> {
        Ok(())
    }
}
