//! The tasks that run side by side: one allocation, which each of them holds on to while it runs.
//!
//! Whoever lets go of it last sends it back to the superstep, so nobody is woken up before all have
//! ended, and the state is not shared any more when they have. Only where each end counts, because
//! it is told, stored or stops the others, do tasks report one by one.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::ended::{Done, Ended, judge};
use super::look::{asks, look};
use super::panic::{catch, caught};
use super::route::check_jump;
use super::task::Task;
use crate::graph::plan::Plan;
use crate::node::{Context, NodeError, NodeRun, Output};
use crate::state::State;

/// The tasks of a superstep, and what they share.
pub(crate) struct Crew<S: State> {
    pub(crate) plan: Arc<Plan<S>>,
    pub(crate) state: Arc<S>,
    pub(crate) members: Vec<Member<S>>,
    /// Where tasks say that they have ended, if that is wanted one by one.
    reports: Option<mpsc::UnboundedSender<usize>>,
    /// Where the last one sends all of it.
    home: oneshot::Sender<Vec<Member<S>>>,
}

/// One of several tasks, with what it is told and what it has left.
pub(crate) struct Member<S: State> {
    pub(crate) task: Task<S>,
    pub(crate) cx: Context,
    /// True when an earlier run says how it ended: it does not run.
    pub(crate) known: bool,
    /// How it ended, once it has. Nobody waits for this lock: a task locks it once, at its end.
    ended: Mutex<Option<Ended<S>>>,
}

impl<S: State> Member<S> {
    pub(crate) fn new(task: Task<S>, cx: Context, ended: Option<Ended<S>>) -> Self {
        Self {
            task,
            cx,
            known: ended.is_some(),
            ended: Mutex::new(ended),
        }
    }

    /// The task, and how it ended.
    pub(crate) fn parts(&mut self) -> (&Task<S>, Option<&Ended<S>>) {
        let ended = self.ended.get_mut();
        let ended = ended.unwrap_or_else(PoisonError::into_inner);
        (&self.task, ended.as_ref())
    }

    /// Takes how the task ended.
    pub(crate) fn take_ended(&self) -> Option<Ended<S>> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.take()
    }

    /// Notes how the task ended.
    pub(crate) fn set_ended(&self, how: Ended<S>) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        *ended = Some(how);
    }

    pub(crate) fn into_task(self) -> Task<S> {
        self.task
    }

    /// As [`parts`](Self::parts), by value.
    pub(crate) fn into_parts(self) -> (Task<S>, Option<Ended<S>>) {
        let ended = self.ended.into_inner();
        (self.task, ended.unwrap_or_else(PoisonError::into_inner))
    }
}

/// The superstep's hold on its tasks. Dropping it stops those that run.
pub(crate) struct Foreman<S: State> {
    crew: Arc<Crew<S>>,
    running: Running,
    reports: Option<mpsc::UnboundedReceiver<usize>>,
    home: oneshot::Receiver<Vec<Member<S>>>,
}

/// Tasks that run; they stop when it is dropped.
struct Running(Vec<JoinHandle<()>>);

impl Drop for Running {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

impl<S: State> Foreman<S> {
    /// A crew of which nobody works yet. They report one by one if `each` counts.
    pub(crate) fn new(
        plan: &Arc<Plan<S>>,
        state: &Arc<S>,
        members: Vec<Member<S>>,
        each: bool,
    ) -> Self {
        let (sender, home) = oneshot::channel();
        let (reporter, reports) = each.then(mpsc::unbounded_channel).unzip();
        Self {
            running: Running(Vec::with_capacity(members.len())),
            crew: Arc::new(Crew {
                plan: Arc::clone(plan),
                state: Arc::clone(state),
                members,
                reports: reporter,
                home: sender,
            }),
            reports,
            home,
        }
    }

    /// Starts the task at `index`.
    pub(crate) fn start(&mut self, runtime: &Handle, index: usize) {
        let place = Place {
            crew: Some(Arc::clone(&self.crew)),
            index,
        };
        self.running.0.push(runtime.spawn(work(place)));
    }

    /// Starts all of which it is not known how they ended.
    pub(crate) fn start_all(&mut self, runtime: &Handle) {
        for index in 0..self.crew.members.len() {
            if self
                .crew
                .members
                .get(index)
                .is_some_and(|member| !member.known)
            {
                self.start(runtime, index);
            }
        }
    }

    /// The task at `index` and how it ended, if it has left that.
    pub(crate) fn ended(&self, index: usize) -> Option<(&Member<S>, Ended<S>)> {
        let member = self.crew.members.get(index)?;
        Some((member, member.take_ended()?))
    }

    /// The next task that has ended.
    pub(crate) async fn next_report(&mut self) -> Option<usize> {
        self.reports.as_mut()?.recv().await
    }

    /// Stops those that run, and waits until they have: nothing goes on behind an error.
    pub(crate) async fn stop(mut self) -> Vec<Member<S>> {
        drop(std::mem::replace(&mut self.running, Running(Vec::new())));
        self.finish().await
    }

    /// Waits for all of them.
    pub(crate) async fn finish(self) -> Vec<Member<S>> {
        let Self {
            crew,
            mut running,
            home,
            ..
        } = self;
        let members = match Arc::into_inner(crew) {
            Some(crew) => crew.members,
            // The last one sends it, also when the runtime has dropped the task.
            None => home.await.unwrap_or_default(),
        };
        // They have ended: there is nothing to stop.
        running.0.clear();
        members
    }
}

/// A task's place in its crew, which it leaves when it is dropped.
struct Place<S: State> {
    /// Always there until then.
    crew: Option<Arc<Crew<S>>>,
    index: usize,
}

impl<S: State> Drop for Place<S> {
    fn drop(&mut self) {
        let Some(crew) = self.crew.take() else {
            return;
        };
        if let Some(reports) = &crew.reports {
            // Nobody reads them any more when the run has been dropped.
            let _ = reports.send(self.index);
        }
        if let Some(crew) = Arc::into_inner(crew) {
            let Crew {
                state,
                members,
                home,
                ..
            } = crew;
            // Before the superstep goes on: it changes the state in place.
            drop(state);
            let _ = home.send(members);
        }
    }
}

/// Runs one of several tasks, and asks its routers: they see the snapshot and this task's own
/// writes, not its siblings'.
// A block and not an async function, whose argument would take up room twice. What is held across
// an `.await` is kept small: tokio moves the future of a task ten times on its way.
#[allow(clippy::manual_async_fn)]
fn work<S: State>(place: Place<S>) -> impl Future<Output = ()> + Send + 'static {
    async move {
        let Some((crew, member)) = place.look_up() else {
            return;
        };
        let routers = match member.task.ran() {
            Some(done) => crew.ended(member, Ended::Finished(Done::clone(done))),
            None => crew.answered(member, catch(|| crew.start(member)).await),
        };
        if let Some(routers) = routers {
            routers.await;
        }
    }
}

impl<S: State> Place<S> {
    fn look_up(&self) -> Option<(&Crew<S>, &Member<S>)> {
        let crew = self.crew.as_deref()?;
        Some((crew, crew.members.get(self.index)?))
    }
}

/// Routers that are being asked, and then note how their task ended.
type Asking<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl<S: State> Crew<S> {
    /// Starts the node of a task.
    fn start<'a>(&'a self, member: &'a Member<S>) -> NodeRun<'a, S> {
        match self.plan.nodes.get(member.task.node) {
            Some(node) => node.step.call(member.task.call(&self.state, &member.cx)),
            None => NodeRun::ready(Err::<Output<S>, _>(NodeError::msg("there is no such node"))),
        }
    }

    /// Takes a node's answer.
    fn answered<'a>(
        &'a self,
        member: &'a Member<S>,
        answer: Result<Output<S>, NodeError>,
    ) -> Option<Asking<'a>> {
        // Also what the state does with an answer before it is merged may panic.
        let judged = caught(|| match judge(&*self.state, &member.cx, answer) {
            Ended::Finished(done) => {
                match check_jump(&self.plan, member.task.node, &done.output.jump) {
                    Ok(()) => Ended::Finished(done),
                    Err(error) => Ended::Failed(error),
                }
            }
            ended => ended,
        });
        let ended = judged.unwrap_or_else(|panicked| Ended::Failed(panicked.into()));
        self.ended(member, ended)
    }

    /// Notes how a task ended, or asks its routers if it has any.
    fn ended<'a>(&'a self, member: &'a Member<S>, ended: Ended<S>) -> Option<Asking<'a>> {
        let node = member.task.node;
        match ended {
            Ended::Finished(mut done) if asks(&self.plan, node, &done.output.jump) => {
                Some(Box::pin(async move {
                    let asked = look(&self.plan, node, &self.state, &done.output, &member.cx).await;
                    member.set_ended(match asked {
                        Ok(routes) => {
                            done.routes = routes;
                            Ended::Finished(done)
                        }
                        Err(unsettled) => unsettled.ended(Some(done)),
                    });
                }))
            }
            ended => {
                member.set_ended(ended);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_future_of_a_task_is_moved_in_a_few_instructions() {
        let place = Place::<i64> {
            crew: None,
            index: 0,
        };
        let size = size_of_val(&work(place));
        assert!(size <= 112, "{size} bytes, which tokio moves ten times");
    }
}
