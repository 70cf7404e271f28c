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
use crate::error::ApiResult;
use crate::guard::Access;
use crate::rows::Thread;
use crate::runs::{Accepted, Disconnect, accept, give_up};
use crate::stream::{EndStatus, RunError, StreamEvent};
use crate::threads::seen;
use input::{Intent, RunAgentInput};

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
    let row = seen(&app, &thread).await?;
    let state = match &row {
        Some(_) => graph.state(&thread, None, false).await?,
        None => None,
    };
    let mut state = state.unwrap_or_default();
    let intent = input.intent(&assistant.assistant_id, row.as_ref(), &state);
    let started = match intent {
        Ok(intent) => start(&app, &thread, row, intent).await,
        Err(error) => Err(error),
    };
    let encoder = AgUi::new(&input.thread_id, &input.run_id, state["values"].take());
    let sse = match started {
        Ok(Some(run)) => {
            let guard = Disconnect::new(&app, &run.row.run_id, run.cancel_on_disconnect);
            Sse::new(whole(encoded(run.events, encoder, guard)).boxed())
        }
        Ok(None) => ended(encoder, EndStatus::Completed, None),
        // The server stops, or its storage fails: another one may take the request, or this one later.
        Err(error) if error.may_work_later() => return Err(error),
        // A run that cannot start is a run that has failed: clients read events, not statuses.
        Err(error) => {
            let error = RunError::new("INVALID_REQUEST", error.detail());
            ended(encoder, EndStatus::Failed, Some(error))
        }
    };
    Ok(event_stream(permit, HeaderMap::new(), sse))
}

/// Does what a client asks for on a thread. Returns `None` if that takes no run.
async fn start(
    app: &Access,
    thread: &str,
    row: Option<Thread>,
    intent: Intent,
) -> ApiResult<Option<Accepted>> {
    let request = match intent {
        Intent::Run(request) => request,
        Intent::GiveUp { run, then } => {
            if let Some(row) = row {
                give_up(app, &row, &run).await?;
            }
            match then {
                Some(request) => request,
                None => return Ok(None),
            }
        }
    };
    accept(app, Some(thread), *request).await.map(Some)
}

/// Returns the events of a run that has ended before it began.
fn ended(mut encoder: AgUi, status: EndStatus, error: Option<RunError>) -> Sse {
    let end = StreamEvent::ended(status, error);
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
