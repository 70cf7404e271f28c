//! A model that fails.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::once;
use langgraph::async_trait;
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream, TokenCount,
};
use tokio::time::sleep;

use super::event::SimulationEventKind;
use super::fault::Fault;
use super::world::World;

/// A model does not answer for so long before its caller gives up.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The model of a thread.
pub(super) struct SimulatedModel {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) world: World,
    pub(super) thread: String,
}

impl SimulatedModel {
    async fn failure(&self) -> Option<ModelError> {
        let (kind, pause) = self.world.with(|world| {
            if !world.dice.fault(Fault::Model) {
                return (None, world.dice.turn());
            }
            let late = world.dice.coin();
            let (kind, text) = if late {
                (ModelErrorKind::Timeout, "does not answer in time")
            } else if world.dice.coin() {
                (ModelErrorKind::Incomplete, "answers by half")
            } else {
                (ModelErrorKind::Transport, "is away")
            };
            let what = SimulationEventKind::Fault {
                fault: Fault::Model,
                what: format!("the model {text}"),
            };
            let node = world.polled.as_ref().map(|task| task.node.clone());
            world.record(&self.thread, node.as_deref(), what);
            let error = ModelError::new(kind, format!("simulated: the model {text}"));
            (Some(error), late.then_some(TIMEOUT))
        });
        if let Some(pause) = pause {
            sleep(pause).await;
        }
        kind
    }

    fn answered(&self, answer: String) {
        self.world.with(|world| {
            let node = world.polled.as_ref().map(|task| task.node.clone());
            let kind = SimulationEventKind::ModelCalled { answer };
            world.record(&self.thread, node.as_deref(), kind);
        });
    }
}

#[async_trait]
impl ChatModel for SimulatedModel {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let failure = match self.failure().await {
            // An answer by half costs the whole call.
            Some(error) if *error.kind() != ModelErrorKind::Incomplete => {
                self.answered(error.to_string());
                return Err(error);
            }
            failure => failure,
        };
        let response = self.model.generate(request).await;
        let response = failure.map_or(response, Err);
        self.answered(match &response {
            Ok(response) => response.message.text().into_owned(),
            Err(error) => error.to_string(),
        });
        response
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        let pieces = once(self.failure()).flat_map(move |failure| match failure {
            Some(error) if *error.kind() == ModelErrorKind::Incomplete => {
                let half = self.model.stream(request.clone()).take(1);
                half.chain(once(std::future::ready(Err(error)))).boxed()
            }
            Some(error) => once(std::future::ready(Err(error))).boxed(),
            None => self.model.stream(request.clone()),
        });
        pieces
            .inspect(|piece| match piece {
                Ok(chunk) if chunk.finish_reason.is_some() => self.answered("streamed".to_owned()),
                Err(error) => self.answered(error.to_string()),
                Ok(_) => {}
            })
            .boxed()
    }

    fn name(&self) -> Option<&str> {
        self.model.name()
    }

    fn provider(&self) -> Option<&str> {
        self.model.provider()
    }

    fn prepare(&self, request: ChatRequest) -> ChatRequest {
        self.model.prepare(request)
    }

    fn names(&self) -> Vec<&str> {
        self.model.names()
    }

    async fn cached_answer(&self, request: &ChatRequest) -> Option<ChatResponse> {
        self.model.cached_answer(request).await
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        self.model.count_tokens(request).await
    }
}
