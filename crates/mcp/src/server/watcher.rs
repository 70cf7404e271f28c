//! Runs a graph for a client: reports its progress, and stops it when the client cancels.

use langgraph::run::{Outcome, Run};
use langgraph::state::State;
use langgraph::stream::{Event, EventKind, StreamMode, StreamModes, StreamOptions};
use langgraph_agent::ToolError;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

pub(super) const CANCELLED: &str = "the call was cancelled";

/// Watches the runs of a call.
#[derive(Clone, Copy)]
pub(super) struct Watcher<'a>(pub(super) &'a RequestContext<RoleServer>);

impl Watcher<'_> {
    /// Runs a graph.
    pub(super) async fn watch<S: State>(&self, run: Run<S>) -> Result<Outcome<S>, ToolError> {
        let token = self.0.meta.get_progress_token();
        let modes = match token {
            Some(_) => StreamMode::Updates | StreamMode::Custom | StreamMode::Progress,
            None => StreamModes::NONE,
        };
        let mut events = run.stream(StreamOptions::new(modes).subgraphs());
        let mut sent = 0.0;
        loop {
            let event = tokio::select! {
                biased;
                () = self.0.ct.cancelled() => return Err(ToolError::model(CANCELLED)),
                event = events.next() => event,
            };
            let Some(event) = event else { break };
            let message = describe(&event.map_err(ToolError::fatal)?);
            if let (Some(token), Some(message)) = (&token, message) {
                sent += 1.0;
                let progress = ProgressNotificationParam::new(token.clone(), sent);
                // A client that is gone cancels the call.
                let _ = self
                    .0
                    .peer
                    .notify_progress(progress.with_message(message))
                    .await;
            }
        }
        events.finish().await.map_err(ToolError::fatal)
    }
}

/// Returns the text of an event for the client.
fn describe<S: State>(event: &Event<S>) -> Option<String> {
    match &event.kind {
        EventKind::Update { node, .. } => Some(format!("`{node}` is done")),
        EventKind::Progress(map) => Some(format!("`{}`: {} of {}", map.node, map.done, map.total)),
        EventKind::Custom {
            value: Value::String(text),
            ..
        } => Some(text.clone()),
        EventKind::Custom { value, .. } => Some(value.to_string()),
        _ => None,
    }
}
