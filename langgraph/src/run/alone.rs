//! Supersteps of one task: inline, and without a clone of the state.

use super::commit::Changes;
use super::end::End;
use super::ended::{Done, Ended, Unsettled};
use super::execute::run_task;
use super::look::asks;
use super::machine::Machine;
use super::route::ask;
use super::task::Task;
use crate::AgentError;
use crate::graph::plan::Plan;
use crate::node::{Context, Jump, Writes};
use crate::state::State;

impl<S: State> Machine<S> {
    /// A superstep of one task.
    pub(crate) async fn one(
        &mut self,
        plan: &Plan<S>,
        cx: &mut Context,
    ) -> Result<Option<End>, AgentError> {
        let Some(mut task) = self.frontier.pop() else {
            return Ok(None);
        };
        let prior = task.take_prior();
        let known = prior.is_some();
        cx.reuse(self.shown_step(), self.taken, task.node);
        cx.set_place(self.recorder.as_ref().and_then(|log| log.place(0)));
        self.remind(cx, 0, &task);
        let ended = if let Some(ended) = prior {
            ended
        } else if let Some(done) = task.ran() {
            self.tell_kept(&task, done).await;
            Ended::Finished(Done::clone(done))
        } else {
            if self.scope.emitter.is_some() {
                self.tell_started(&task).await;
            }
            run_task(plan, &self.state, cx, &task).await
        };
        self.finish_one(plan, task, ended, cx, known).await
    }

    /// Keeps and tells how the only task of a superstep ended.
    pub(crate) async fn note(
        &mut self,
        task: &Task<S>,
        ended: &Ended<S>,
    ) -> Result<(), AgentError> {
        if self.recorder.is_some() {
            self.keep_ended(task.node, ended).await?;
        }
        if self.scope.emitter.is_some() {
            self.tell_ended(task, 0, ended).await;
        }
        Ok(())
    }

    /// Ends a superstep of one task; what has become of it is `known` when it was kept before.
    pub(crate) async fn finish_one(
        &mut self,
        plan: &Plan<S>,
        task: Task<S>,
        ended: Ended<S>,
        cx: &Context,
        known: bool,
    ) -> Result<Option<End>, AgentError> {
        let notes = !known && self.watched();
        let looks = matches!(&ended, Ended::Finished(done)
            if done.routes.is_empty() && asks(plan, task.node, &done.output.jump));
        if notes && !looks {
            let noted = self.note(&task, &ended).await;
            // What a node failed with says more than that it could not be noted.
            if !matches!(ended, Ended::Failed(_)) {
                noted?;
            }
        }
        let done = match ended {
            Ended::Finished(done) => done,
            Ended::Asked {
                questions,
                ran,
                refused,
            } => {
                // What was known before has to be shown now.
                if let (true, Some(ran)) = (known, ran) {
                    self.tell_kept(&task, &ran).await;
                    self.merge_one(&task, ran.output.writes)?;
                }
                return self.stop(task, Unsettled::Asked(questions, refused));
            }
            Ended::Failed(error) => return self.stop(task, Unsettled::Failed(error)),
        };
        // Its routers are a part of it: only when they have answered is it finished.
        let finished = (notes && looks).then(|| done.clone());
        // Its writes are merged in place, then its routers look.
        let wrote = self.merge_one(&task, done.output.writes)?;
        let mut routes = done.routes;
        if looks {
            match ask(plan, task.node, &self.state, cx).await {
                Ok(asked) => routes = asked,
                Err(unsettled) => return self.lost(task, finished, unsettled, wrote).await,
            }
        }
        if let Some(finished) = finished {
            self.note(&task, &Ended::Finished(finished)).await?;
        }
        match done.output.jump {
            Jump::Parent(parent) => return Ok(Some(End::Parent(parent))),
            jump => self.follow(plan, task.node, jump, routes)?,
        }
        self.settle();
        if self.watched() {
            self.conclude(wrote).await?;
        }
        Ok(None)
    }

    /// Merges the writes of the only task of a superstep. True when there were any.
    fn merge_one(&mut self, task: &Task<S>, writes: Writes<S>) -> Result<bool, AgentError> {
        // The input of a graph inside another does not end what is ephemeral around it.
        let enters = self.is_start(task) && self.step == 0 && !self.scope.namespace.is_empty();
        let mut commit = self.commit();
        let merged = if enters {
            commit.entry(task.node, writes)
        } else {
            commit.one(task.node, writes)
        };
        let wrote = merged?;
        if self.is_start(task) && self.changes.is_some() {
            // The input is the caller's, not a change of this graph.
            self.changes = Some(Changes::default());
        }
        Ok(wrote)
    }

    /// Ends a superstep whose only task has run and does not know where to go.
    async fn lost(
        &mut self,
        task: Task<S>,
        ran: Option<Done<S>>,
        unsettled: Unsettled,
        wrote: bool,
    ) -> Result<Option<End>, AgentError> {
        let asked = matches!(unsettled, Unsettled::Asked(..));
        let ended = unsettled.ended(ran);
        if self.watched() {
            let noted = self.note(&task, &ended).await;
            // As above.
            if asked {
                noted?;
            }
        }
        if asked && wrote {
            self.tell_values().await;
        }
        match ended {
            Ended::Asked {
                questions, refused, ..
            } => self.stop(task, Unsettled::Asked(questions, refused)),
            Ended::Failed(error) => self.stop(task, Unsettled::Failed(error)),
            Ended::Finished(_) => Ok(None),
        }
    }

    /// What a task that has not finished makes of its run.
    pub(crate) fn stop(
        &mut self,
        task: Task<S>,
        unsettled: Unsettled,
    ) -> Result<Option<End>, AgentError> {
        match unsettled {
            Unsettled::Asked(questions, refused) => {
                let interrupts = self.interrupts(&task, 0, questions);
                let refused = refused.map(|error| self.failure(task.node, error));
                self.frontier.push(task);
                Ok(Some(End::paused(interrupts, refused)))
            }
            Unsettled::Failed(error) => Err(self.failure(task.node, error)),
        }
    }
}
