//! One call of a tool, from its arguments to its answer.

use langgraph_agent::ToolError;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock,
    ElicitRequest, ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};

use super::GraphTool;
use super::content::blocks;
use super::interrupt_form::InterruptForm;
use super::paused::{Ended, Paused};
use super::secret::Secret;
use super::watcher::{CANCELLED, Watcher};
use crate::Elicited;

/// A call of a tool.
pub(super) struct Call<'a> {
    tool: &'a GraphTool,
    secret: &'a Secret,
    context: &'a RequestContext<RoleServer>,
}

/// The thread of a call.
struct CallThread {
    id: String,
    /// True if it is deleted at the end of the call.
    is_temporary: bool,
}

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

    fn watcher(&self) -> Watcher<'a> {
        Watcher(self.context)
    }

    /// Answers the call.
    pub(super) async fn answer(
        &self,
        params: CallToolRequestParams,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        let named = self.tool.thread_of(&arguments);
        let is_temporary = named.is_none();
        let (thread, began) = if let Some(state) = params.request_state {
            let opened = self.secret.open(&self.tool.definition().name, &state);
            let thread = opened.map(str::to_owned).ok_or_else(|| {
                ErrorData::invalid_params("the request state is not from this server", None)
            })?;
            let answers = params.input_responses.unwrap_or_default();
            let began = self.resume_with(&thread, &answers).await;
            (
                Some(CallThread {
                    id: thread,
                    is_temporary,
                }),
                began,
            )
        } else {
            let id = named.or_else(|| {
                let persistent = self.tool.graph.is_persistent();
                persistent.then(|| format!("mcp-{}", uuid::Uuid::new_v4()))
            });
            let graph = &self.tool.graph;
            let began = graph.start(arguments, id.as_deref(), self.watcher()).await;
            (
                id.map(|id| CallThread { id, is_temporary }),
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
        if let Some(thread) = thread.filter(|thread| thread.is_temporary) {
            self.tool.graph.delete(&thread.id).await;
        }
        Ok(answer)
    }

    /// Elicits answers until the run is done, or returns the questions to a client that calls again.
    async fn settle(
        &self,
        mut at: Ended,
        mut why: Option<String>,
        thread: Option<&CallThread>,
    ) -> Result<CallToolResponse, ToolError> {
        loop {
            let paused = match at {
                Ended::Done(output) => {
                    return Ok(CallToolResult::success(blocks(&output)).into());
                }
                Ended::Paused(paused) => paused,
            };
            let (Some(thread), Some(form)) = (thread, paused.0.first()) else {
                return Err(ToolError::model(
                    "the graph has paused at a breakpoint, where a client cannot go on",
                ));
            };
            self.check_capability(form, why.as_deref())?;
            if self.takes_questions() {
                return Ok(self.questions(&paused, why.as_deref(), thread).into());
            }
            let elicited = self.elicit(form, why.take().as_deref()).await?;
            (at, why) = self.resume(form, elicited, &thread.id).await?;
        }
    }

    /// Returns true if the client takes questions as an answer.
    fn takes_questions(&self) -> bool {
        let version = self.context.protocol_version();
        version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
    }

    fn check_capability(&self, form: &InterruptForm, why: Option<&str>) -> Result<(), ToolError> {
        let capabilities = self.context.client_capabilities();
        if capabilities.is_some_and(|capabilities| capabilities.elicitation.is_some()) {
            return Ok(());
        }
        let question = form.message_with(why);
        Err(ToolError::model(format!(
            "the user has to answer, and this client does not support elicitation: {question}"
        )))
    }

    fn questions(
        &self,
        paused: &Paused,
        why: Option<&str>,
        thread: &CallThread,
    ) -> InputRequiredResult {
        let requests = paused.0.iter().map(|form| {
            let request = ElicitRequest::new(form.request(why));
            (
                paused.name(form).to_owned(),
                InputRequest::Elicitation(request),
            )
        });
        let state = self.secret.seal(&self.tool.definition().name, &thread.id);
        InputRequiredResult::new(Some(requests.collect::<InputRequests>()), Some(state))
    }

    /// Asks a client during the call.
    async fn elicit(&self, form: &InterruptForm, why: Option<&str>) -> Result<Elicited, ToolError> {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form.request(why)));
        let answer = self.context.peer.send_request(request);
        let answer = tokio::select! {
            biased;
            () = self.context.ct.cancelled() => return Err(ToolError::model(CANCELLED)),
            answer = answer => answer.map_err(|error| ToolError::model(error.to_string()))?,
        };
        let ClientResult::ElicitResult(result) = answer else {
            return Err(ToolError::model("unexpected answer of the client"));
        };
        let value = serde_json::to_value(result).map_err(ToolError::fatal)?;
        Elicited::from_wire(&value).map_err(ToolError::model)
    }

    /// Resumes a paused call with the answers of the client.
    async fn resume_with(
        &self,
        thread: &str,
        answers: &InputResponses,
    ) -> Result<(Ended, Option<String>), ToolError> {
        let none = || ToolError::model("this call has ended; call the tool anew");
        let paused = self.tool.graph.paused(thread).await?.ok_or_else(none)?;
        let mut at = None;
        for form in &paused.0 {
            let Some(answer) = answers.get(paused.name(form)) else {
                continue;
            };
            let elicited = Elicited::from_wire(answer).map_err(ToolError::model)?;
            let (now, why) = self.resume(form, elicited, thread).await?;
            if why.is_some() {
                return Ok((now, why));
            }
            at = Some(now);
        }
        Ok((at.unwrap_or(Ended::Paused(paused)), None))
    }

    /// Resumes the run with an answer. If the answer does not fit, the interrupt stays open, and the
    /// text says why.
    async fn resume(
        &self,
        form: &InterruptForm,
        elicited: Elicited,
        thread: &str,
    ) -> Result<(Ended, Option<String>), ToolError> {
        let graph = &self.tool.graph;
        let why = match form.answer(elicited) {
            Ok(None) => {
                return Err(ToolError::model(format!(
                    "the user did not answer: {}",
                    form.message_with(None)
                )));
            }
            Ok(Some(answer)) => match graph.resume(thread, answer, self.watcher()).await {
                Ok(at) => return Ok((at, None)),
                Err(ToolError::Arguments(why)) => why,
                Err(error) => return Err(error),
            },
            Err(why) => why,
        };
        let none = || ToolError::model("the interrupt is no longer open");
        let paused = graph.paused(thread).await?.ok_or_else(none)?;
        Ok((Ended::Paused(paused), Some(why)))
    }
}
