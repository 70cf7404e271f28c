//! Running the tasks of a superstep side by side.

use tokio::runtime::Handle;

use super::crew::{Foreman, Member};
use super::ended::{Done, Ended};
use super::look::look;
use super::machine::Machine;
use super::route::check_jump;
use super::task::Task;
use crate::AgentError;
use crate::node::Context;
use crate::runtime::runtime;
use crate::state::State;

impl<S: State> Machine<S> {
    /// Runs `tasks` side by side and returns how each ended.
    ///
    /// Fails at the first failure if that stops the others.
    pub(crate) async fn execute(
        &mut self,
        tasks: Vec<Task<S>>,
    ) -> Result<Vec<Member<S>>, AgentError> {
        let mut members = Vec::with_capacity(tasks.len());
        for (index, mut task) in tasks.into_iter().enumerate() {
            let mut prior = task.take_prior();
            if let Some(Ended::Finished(done)) = &mut prior
                && self.is_start(&task)
                && let Some(ended) = self.take_up(index, &task, done).await?
            {
                prior = Some(ended);
            }
            let cx = self.context_of(index, &task);
            members.push(Member::new(task, cx, prior));
        }
        if self.scope.emitter.is_some() {
            self.tell_several(&mut members).await;
        }
        let open = members.iter().filter(|member| !member.known).count();
        if open == 0 {
            return Ok(members);
        }
        let at_once = self.scope.shared.max_concurrency.unwrap_or(usize::MAX);
        let fail_fast = self.plan.fail_fast || self.scope.shared.fail_fast;
        if fail_fast || self.watched() || at_once < open {
            return self.watch(members, at_once.max(1), fail_fast).await;
        }
        let (runtime, members) = self.runtime_for(members)?;
        let mut crew = Foreman::new(&self.plan, &self.state, members, false);
        crew.start_all(&runtime);
        Ok(crew.finish().await)
    }

    /// Runs tasks of which each counts when it ends: so many at once, each told and stored, and all
    /// stopped by one that fails.
    async fn watch(
        &mut self,
        members: Vec<Member<S>>,
        at_once: usize,
        fail_fast: bool,
    ) -> Result<Vec<Member<S>>, AgentError> {
        let (runtime, members) = self.runtime_for(members)?;
        let watched = self.watched();
        let known: Vec<bool> = members.iter().map(|member| member.known).collect();
        let mut open = (0..).zip(known).filter(|(_, known)| !known);
        let mut crew = Foreman::new(&self.plan, &self.state, members, true);
        let mut running = 0;
        loop {
            while running < at_once
                && let Some((index, _)) = open.next()
            {
                crew.start(&runtime, index);
                running += 1;
            }
            if running == 0 {
                return Ok(crew.finish().await);
            }
            let Some(index) = crew.next_report().await else {
                return Ok(crew.finish().await);
            };
            running -= 1;
            // One that has left nothing is seen by whoever gets the crew back.
            let Some((member, ended)) = crew.ended(index) else {
                continue;
            };
            let failed = matches!(ended, Ended::Failed(_));
            let mut kept = Ok(());
            if watched {
                kept = self.record_ended(index, member.task.node, &ended).await;
                if failed || kept.is_ok() {
                    self.tell_ended(&member.task, index, &ended).await;
                }
            }
            let node = member.task.node;
            match (ended, kept) {
                // What a node failed with says more than that it could not be stored.
                (Ended::Failed(error), kept) if fail_fast || kept.is_err() => {
                    let members = crew.stop().await;
                    self.frontier = members.into_iter().map(Member::into_task).collect();
                    return Err(self.failure(node, error));
                }
                (_, Err(error)) => {
                    crew.stop().await;
                    return Err(error);
                }
                (ended, Ok(())) => member.set_ended(ended),
            }
        }
    }

    /// The runtime on which tasks run side by side. Without one they stay where they are.
    fn runtime_for(
        &mut self,
        members: Vec<Member<S>>,
    ) -> Result<(Handle, Vec<Member<S>>), AgentError> {
        match runtime(|| format!("running {} side by side", self.names_of(&members))) {
            Ok(runtime) => Ok((runtime, members)),
            Err(missing) => {
                self.frontier = members.into_iter().map(Member::into_task).collect();
                Err(missing.into())
            }
        }
    }

    fn names_of(&self, members: &[Member<S>]) -> String {
        let open = members.iter().filter(|member| !member.known);
        let mut names: Vec<_> = open
            .map(|member| format!("`{}`", self.plan.node_name(member.task.node)))
            .collect();
        // A worker has many tasks.
        names.dedup();
        names.join(", ")
    }

    /// Tells of the tasks of a superstep: those that start, and what others wrote before.
    async fn tell_several(&self, members: &mut [Member<S>]) {
        for member in &mut *members {
            let (task, ended) = member.parts();
            if !matches!(ended, Some(Ended::Asked { .. })) && task.ran().is_none() {
                self.tell_started(task).await;
            }
        }
        for member in members {
            let (task, ended) = member.parts();
            if let Some(Ended::Finished(done)) = ended {
                self.tell_kept(task, done).await;
            }
            if let Some(done) = task.ran() {
                self.tell_kept(task, done).await;
            }
        }
    }

    /// START has no code: what it has taken up goes its way. How it ended if it cannot yet.
    async fn take_up(
        &mut self,
        index: usize,
        task: &Task<S>,
        done: &mut Done<S>,
    ) -> Result<Option<Ended<S>>, AgentError> {
        let plan = &self.plan;
        let mut cx = self.context(task.node);
        cx.set_place(self.recorder.as_ref().and_then(|log| log.place(index)));
        let asked = match check_jump(plan, task.node, &done.output.jump) {
            Ok(()) => look(plan, task.node, &self.state, &done.output, &cx).await,
            Err(error) => Err(error.into()),
        };
        match asked {
            Ok(routes) => {
                done.routes = routes;
                Ok(None)
            }
            Err(unsettled) => {
                let ended = unsettled.ended(Some(Done::clone(done)));
                self.record_ended(index, task.node, &ended).await?;
                self.tell_ended(task, index, &ended).await;
                Ok(Some(ended))
            }
        }
    }

    /// What one of several tasks is told.
    fn context_of(&self, index: usize, task: &Task<S>) -> Context {
        let mut cx = self.context(task.node);
        cx.set_place(self.recorder.as_ref().and_then(|log| log.place(index)));
        self.remind(&mut cx, index, task);
        cx
    }
}
