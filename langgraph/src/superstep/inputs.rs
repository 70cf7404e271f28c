//! Inputs of later calls, which the active run merges.

use super::Engine;
use crate::checkpoint::Source;
use crate::error::{AgentError, ErrorKind};
use crate::node::Output;
use crate::record::Origin;
use crate::state::State;
use crate::task::Task;

impl<S: State> Engine<S> {
    /// Merges the inputs of later calls into the state, if nothing is open in it.
    pub(super) async fn merge_later_inputs(&mut self) -> Result<(), AgentError> {
        let Some(inbox) = self.inbox.clone() else {
            return Ok(());
        };
        let is_open = self.position.state.dismiss().is_some() || !self.results.is_empty();
        if is_open || !self.frontier.tasks.iter().all(Task::is_new) {
            return Ok(());
        }
        let mut taken = Vec::new();
        inbox.take_mergeable(&mut |input| {
            let Ok(input) = input.downcast::<Output<S>>() else {
                let reason = "the input is one of another state".to_owned();
                return Err((ErrorKind::InvalidInput, reason));
            };
            let writes = input.writes.into_vec();
            let before = self.position.tracked_state();
            if let Err(error) = self.apply_external(writes.clone()) {
                self.position.restore(before);
                return Err((error.kind(), error.to_string()));
            }
            taken.extend(writes);
            Ok(())
        });
        if taken.is_empty() {
            return Ok(());
        }
        let origin = Origin::child_of(self.observer.current(), Source::Input);
        let entry = self.observer.entry(taken)?;
        self.position.step += 1;
        self.record(origin, entry).await?;
        self.position.emit_values();
        Ok(())
    }
}
