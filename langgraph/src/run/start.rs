//! The superstep of START: the input is merged, and its edges are followed.

use std::sync::Arc;

use super::ended::{Ended, Unsettled};
use super::look::asks;
use super::machine::Machine;
use super::route::{ask, check_jump};
use super::task::{Past, Task};
use crate::AgentError;
use crate::node::Output;
use crate::state::State;

impl<S: State> Machine<S> {
    /// Takes the input: merges it and follows START's edges.
    pub(crate) async fn start(&mut self, input: Output<S>) -> Result<(), AgentError> {
        let plan = Arc::clone(&self.plan);
        let start = plan.nodes.len();
        // A graph inside another starts in the superstep around it: its first nodes see what is
        // ephemeral there.
        let inside = self.step < 0 && !self.scope.namespace.is_empty();
        self.step += 1;
        let mut commit = self.commit();
        let merged = if inside {
            commit.entry(start, input.writes)
        } else {
            commit.one(start, input.writes)
        };
        let wrote = merged?;
        let mut asked = check_jump(&plan, start, &input.jump)
            .map(|()| Vec::new())
            .map_err(Unsettled::from);
        if asked.is_ok() && asks(&plan, start, &input.jump) {
            let mut cx = self.context(start);
            cx.set_place(self.recorder.as_ref().and_then(|log| log.place(0)));
            self.remind(&mut cx, 0, &Task::by_edge(start));
            asked = ask(&plan, start, &self.state, &cx).await;
        }
        let routes = match asked {
            Ok(routes) => routes,
            Err(unsettled) => {
                let (task, ended) = (Task::by_edge(start), unsettled.ended(None));
                let noted = if self.watched() {
                    Box::pin(self.note(&task, &ended)).await
                } else {
                    Ok(())
                };
                // It says more than that it could not be noted.
                if let Ended::Failed(error) = ended {
                    return Err(self.failure(start, error));
                }
                noted?;
                if wrote {
                    Box::pin(self.tell_values()).await;
                }
                // The input has not gone its way yet: the loop pauses with it.
                self.step -= 1;
                self.frontier.push(task.with_past(Past {
                    prior: Some(ended),
                    ..Past::default()
                }));
                return Ok(());
            }
        };
        self.follow(&plan, start, input.jump, routes)?;
        self.settle();
        if self.watched() {
            Box::pin(self.conclude(wrote)).await?;
        }
        Ok(())
    }
}
