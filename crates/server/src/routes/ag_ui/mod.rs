//! AG-UI: one endpoint, through which front ends run a graph as an agent.
//!
//! The thread of the client is a thread of the server, so its runs, its state and its history are there
//! for every other client too.

mod input;

use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::stream::{self, Stream, StreamExt};
use langgraph_http::{BrokenOff, Frame, Sse};

use super::address::Path;
use super::encoded::encoded;
use super::query::Body;
use super::runs::{event_stream, permit};
use crate::encode::Encoder;
use crate::encode::ag_ui::AgUi;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::runs::{Disconnect, accept};
use crate::stream::{EndStatus, RunError, StreamEvent};
use crate::threads::seen;
use input::RunAgentInput;

/// Runs the graph of an assistant on the client's thread.
pub(super) async fn run(
    app: Access,
    Path(assistant): Path<String>,
    Body(input): Body<RunAgentInput>,
) -> ApiResult<Response> {
    let permit = permit(&app)?;
    let assistant = app.assistant(&assistant).await?;
    let thread = input.thread(&app).await?;
    let graph = app.graph(&assistant.graph_id)?;
    let state = match seen(&app, &thread).await? {
        Some(_) => graph.state(&thread, None, false).await?,
        None => None,
    };
    let mut state = state.unwrap_or_default();
    let started = match input.request(&assistant.assistant_id, &state) {
        Ok(request) => accept(&app, Some(&thread), request).await,
        Err(error) => Err(error),
    };
    let encoder = AgUi::new(&input.thread_id, &input.run_id, state["values"].take());
    let sse = match started {
        Ok(run) => {
            let guard = Disconnect::new(&app, &run.row.run_id, run.cancel_on_disconnect);
            Sse::new(whole(encoded(run.events, encoder, guard)).boxed())
        }
        // The server stops, or its storage fails: another one may take the request, or this one later.
        Err(error) if error.may_work_later() => return Err(error),
        Err(error) => refused(encoder, &error),
    };
    Ok(event_stream(permit, HeaderMap::new(), sse))
}

/// A run that cannot start is a run that has failed: clients read events, not statuses.
fn refused(mut encoder: AgUi, error: &ApiError) -> Sse {
    let error = RunError::new("INVALID_REQUEST", error.detail());
    let end = StreamEvent::ended(EndStatus::Failed, Some(error));
    Sse::new(stream::iter(encoder.encode(&end)))
}

/// Ends frames that break off with an error: this protocol cannot continue them.
fn whole(
    frames: impl Stream<Item = Result<Frame, BrokenOff>> + Send + 'static,
) -> impl Stream<Item = Frame> + Send + 'static {
    frames.map(|frame| {
        frame.unwrap_or_else(|_| {
            let error = serde_json::json!({
                "type": "RUN_ERROR", "code": "Unavailable",
                "message": "the server stops; the run goes on, and its messages come to the thread",
            });
            Frame::data_only(error.to_string())
        })
    })
}
