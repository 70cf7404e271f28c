//! One call of a tool, from its arguments to its answer.

use langgraph::message::{Content, ContentPart, Media};
use langgraph::node::Interrupt;
use langgraph::run::{Outcome, Run, StreamOptions};
use langgraph::state::State;
use langgraph::stream::{Event, EventKind, StreamMode, StreamModes};
use langgraph_agent::{ToolError, ToolOutput};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock,
    ElicitRequest, ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ProgressNotificationParam, ProtocolVersion, ResourceContents, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::GraphTool;
use super::asked::Asked;
use super::graph_tool::Progressed;
use super::secret::Secret;
use crate::Elicited;

/// What a run waits for.
pub(super) struct Paused(Vec<Asked>);

impl Paused {
    pub(super) fn at(interrupts: Vec<Interrupt>) -> Self {
        Self(interrupts.into_iter().map(Asked::new).collect())
    }

    /// Returns the name of a question for the client: its key, unless another one has the same.
    fn name<'a>(&self, asked: &'a Asked) -> &'a str {
        let same = self.0.iter().filter(|other| other.key() == asked.key());
        match same.count() {
            1 => asked.key(),
            _ => asked.id(),
        }
    }
}

/// A call of a tool.
pub(super) struct Call<'a> {
    tool: &'a GraphTool,
    secret: &'a Secret,
    context: &'a RequestContext<RoleServer>,
}

/// The thread of a call.
struct OnThread {
    id: String,
    /// It ends with the call.
    own: bool,
}

const CANCELLED: &str = "the call was cancelled";

impl<'a> Call<'a> {
    pub(super) fn new(
        tool: &'a GraphTool,
        secret: &'a Secret,
        context: &'a RequestContext<RoleServer>,
    ) -> Self {
        Self {
            tool,
            secret,
            context,
        }
    }

    /// Answers the call.
    pub(super) async fn answer(
        &self,
        params: CallToolRequestParams,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        let named = self.tool.thread_of(&arguments);
        let own = named.is_none();
        let (thread, began) = if let Some(state) = params.request_state {
            let opened = self.secret.open(&self.tool.definition().name, &state);
            let thread = opened.map(str::to_owned).ok_or_else(|| {
                ErrorData::invalid_params("the request state is not from this server", None)
            })?;
            let answers = params.input_responses.unwrap_or_default();
            let began = self.go_on(&thread, &answers).await;
            (Some(OnThread { id: thread, own }), began)
        } else {
            let id = named.or_else(|| {
                let persistent = self.tool.graph.is_persistent();
                persistent.then(|| format!("mcp-{}", uuid::Uuid::new_v4()))
            });
            let graph = &self.tool.graph;
            let began = graph.start(arguments, id.as_deref(), self).await;
            (
                id.map(|id| OnThread { id, own }),
                began.map(|at| (at, None)),
            )
        };
        let ended = match began {
            Ok((at, why)) => self.settle(at, why, thread.as_ref()).await,
            Err(error) => Err(error),
        };
        let answer = match ended {
            Ok(CallToolResponse::InputRequired(questions)) => {
                return Ok(CallToolResponse::InputRequired(questions));
            }
            Ok(answer) => answer,
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into(),
        };
        if let Some(thread) = thread.filter(|thread| thread.own) {
            self.tool.graph.forget(&thread.id).await;
        }
        Ok(answer)
    }

    /// Asks until the run is done, or returns the questions to a client that calls again.
    async fn settle(
        &self,
        mut at: Progressed,
        mut why: Option<String>,
        thread: Option<&OnThread>,
    ) -> Result<CallToolResponse, ToolError> {
        loop {
            let paused = match at {
                Progressed::Done(output) => {
                    return Ok(CallToolResult::success(blocks(&output)).into());
                }
                Progressed::Paused(paused) => paused,
            };
            let (Some(thread), Some(asked)) = (thread, paused.0.first()) else {
                return Err(ToolError::model(
                    "the graph has stopped at a breakpoint, where a client cannot go on",
                ));
            };
            self.check_capability(asked, why.as_deref())?;
            if self.calls_again() {
                return Ok(self.questions(&paused, why.as_deref(), thread).into());
            }
            let elicited = self.elicit(asked, why.take().as_deref()).await?;
            (at, why) = self.resume(asked, elicited, &thread.id).await?;
        }
    }

    /// Returns true if the client takes questions as an answer.
    fn calls_again(&self) -> bool {
        let version = self.context.protocol_version();
        version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
    }

    fn check_capability(&self, asked: &Asked, why: Option<&str>) -> Result<(), ToolError> {
        let capabilities = self.context.client_capabilities();
        if capabilities.is_some_and(|capabilities| capabilities.elicitation.is_some()) {
            return Ok(());
        }
        let question = asked.message_with(why);
        Err(ToolError::model(format!(
            "a person has to answer, and this client cannot ask: {question}"
        )))
    }

    fn questions(
        &self,
        paused: &Paused,
        why: Option<&str>,
        thread: &OnThread,
    ) -> InputRequiredResult {
        let requests = paused.0.iter().map(|asked| {
            let request = ElicitRequest::new(asked.request(why));
            (
                paused.name(asked).to_owned(),
                InputRequest::Elicitation(request),
            )
        });
        let state = self.secret.seal(&self.tool.definition().name, &thread.id);
        InputRequiredResult::new(Some(requests.collect::<InputRequests>()), Some(state))
    }

    /// Asks a client during the call.
    async fn elicit(&self, asked: &Asked, why: Option<&str>) -> Result<Elicited, ToolError> {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(asked.request(why)));
        let answer = self.context.peer.send_request(request);
        let answer = tokio::select! {
            biased;
            () = self.context.ct.cancelled() => return Err(ToolError::model(CANCELLED)),
            answer = answer => answer.map_err(|error| ToolError::model(error.to_string()))?,
        };
        let ClientResult::ElicitResult(result) = answer else {
            return Err(ToolError::model("the client has answered something else"));
        };
        let value = serde_json::to_value(result).map_err(ToolError::fatal)?;
        Elicited::from_wire(&value).map_err(ToolError::model)
    }

    /// Goes on with a paused call, with the answers that the client brings.
    async fn go_on(
        &self,
        thread: &str,
        answers: &InputResponses,
    ) -> Result<(Progressed, Option<String>), ToolError> {
        let none = || ToolError::model("this call has ended; call the tool anew");
        let paused = self.tool.graph.paused(thread).await?.ok_or_else(none)?;
        let mut at = None;
        for asked in &paused.0 {
            let Some(answer) = answers.get(paused.name(asked)) else {
                continue;
            };
            let elicited = Elicited::from_wire(answer).map_err(ToolError::model)?;
            let (now, why) = self.resume(asked, elicited, thread).await?;
            if why.is_some() {
                return Ok((now, why));
            }
            at = Some(now);
        }
        Ok((at.unwrap_or(Progressed::Paused(paused)), None))
    }

    /// Resumes the run with an answer. If the answer does not fit, the question stays open, and the
    /// text says why.
    async fn resume(
        &self,
        asked: &Asked,
        elicited: Elicited,
        thread: &str,
    ) -> Result<(Progressed, Option<String>), ToolError> {
        let graph = &self.tool.graph;
        let why = match asked.answer(elicited) {
            Ok(None) => {
                return Err(ToolError::model(format!(
                    "the user did not answer: {}",
                    asked.message_with(None)
                )));
            }
            Ok(Some(answer)) => match graph.resume(thread, answer, self).await {
                Ok(at) => return Ok((at, None)),
                Err(ToolError::Arguments(why)) => why,
                Err(error) => return Err(error),
            },
            Err(why) => why,
        };
        let none = || ToolError::model("the question is no longer open");
        let paused = graph.paused(thread).await?.ok_or_else(none)?;
        Ok((Progressed::Paused(paused), Some(why)))
    }

    /// Runs a graph, tells the client of its progress, and stops it when the client does.
    pub(super) async fn watch<S: State>(&self, run: Run<S>) -> Result<Outcome<S>, ToolError> {
        let token = self.context.meta.get_progress_token();
        let modes = match token {
            Some(_) => StreamMode::Updates | StreamMode::Custom | StreamMode::Progress,
            None => StreamModes::NONE,
        };
        let mut events = run.stream(StreamOptions::new(modes).subgraphs());
        let mut told = 0.0;
        loop {
            let event = tokio::select! {
                biased;
                () = self.context.ct.cancelled() => return Err(ToolError::model(CANCELLED)),
                event = events.next() => event,
            };
            let Some(event) = event else { break };
            let message = describe(&event.map_err(ToolError::fatal)?);
            if let (Some(token), Some(message)) = (&token, message) {
                told += 1.0;
                let progress = ProgressNotificationParam::new(token.clone(), told);
                // A client that is gone cancels the call.
                let _ = self
                    .context
                    .peer
                    .notify_progress(progress.with_message(message))
                    .await;
            }
        }
        events.finish().await.map_err(ToolError::fatal)
    }
}

/// What a client reads about an event.
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

fn blocks(output: &ToolOutput) -> Vec<ContentBlock> {
    match output.answer() {
        Content::Text(text) => vec![ContentBlock::text(text)],
        Content::Parts(parts) => parts.iter().filter_map(block).collect(),
    }
}

/// A part of an answer for a client. The reasoning of a model stays here.
fn block(part: &ContentPart) -> Option<ContentBlock> {
    let (media, kind) = match part {
        ContentPart::Text { text } => return Some(ContentBlock::text(text)),
        ContentPart::Image(media) => (media, "image"),
        ContentPart::Audio(media) => (media, "audio"),
        ContentPart::File(media) => (media, "file"),
        _ => return None,
    };
    Some(match media {
        Media::Url { url, .. } => ContentBlock::text(url),
        Media::Base64 { base64, mime_type } => match kind {
            "image" => ContentBlock::image(base64, mime_type),
            "audio" => ContentBlock::audio(base64, mime_type),
            _ => {
                let contents = ResourceContents::blob(base64, "attachment:");
                ContentBlock::resource(contents.with_mime_type(mime_type))
            }
        },
        _ => return None,
    })
}
