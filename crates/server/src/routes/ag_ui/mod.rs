//! AG-UI: one endpoint, through which front ends run a graph as an agent.
//!
//! The thread of the client is a thread of the server, so its runs, its state and its history are there
//! for every other client too.

mod input;

use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::stream::{self, Stream, StreamExt};
use langgraph_http::{BrokenOff, Frame, Sse};
use serde_json::Value;

use super::address::Path;
use super::encoded::encoded;
use super::query::Body;
use super::runs::{event_stream, permit};
use crate::encode::Encoder;
use crate::encode::ag_ui::AgUi;
use crate::error::ApiResult;
use crate::graph::StateQuery;
use crate::guard::Access;
use crate::rows::Assistant;
use crate::runs::{Accepted, Disconnect, Standing, accept, accept_at, belongs, give_up};
use crate::stream::{EndStatus, RunError, StreamEvent};
use input::{Intent, RunAgentInput};

/// Runs the graph of an assistant on the client's thread.
pub(super) async fn run(
    app: Access,
    Path(assistant): Path<String>,
    Body(input): Body<RunAgentInput>,
) -> ApiResult<Response> {
    let permit = permit(&app)?;
    let assistant = app.assistant(&assistant).await?;
    let mut values = Value::Null;
    let started = start(&app, &assistant, &input, &mut values).await;
    let encoder = AgUi::new(&input.thread_id, &input.run_id, values);
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

/// Does what a client asks for on its thread, and reads the values there. Returns `None` if that takes no run.
async fn start(
    app: &Access,
    assistant: &Assistant,
    input: &RunAgentInput,
    values: &mut Value,
) -> ApiResult<Option<Accepted>> {
    let thread = input.thread(app).await?;
    let graph = app.graph(&assistant.graph_id)?;
    loop {
        let standing = Standing::of(app, &thread).await?;
        let mut state = Value::Null;
        if let Some(row) = &standing.thread {
            belongs(app, row, assistant).await?;
            state = graph
                .state(&thread, &StateQuery::default())
                .await?
                .unwrap_or_default();
        }
        let intent = input.intent(&assistant.assistant_id, standing.thread.as_ref(), &state)?;
        *values = state["values"].take();
        let accepted = match intent {
            Intent::Run(request) => accept_at(app, &standing, *request).await?,
            Intent::GiveUp { run, then } => {
                if let Some(row) = &standing.thread {
                    give_up(app, row, &run).await?;
                }
                return match then {
                    Some(request) => accept(app, Some(&thread), *request).await.map(Some),
                    None => Ok(None),
                };
            }
        };
        if accepted.is_some() {
            return Ok(accepted);
        }
    }
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
