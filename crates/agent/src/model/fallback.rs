//! A model with others that take its place.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use langgraph::message::{MessageChunk, ResponseMetadata};

use super::stream::{next, unfold};
use super::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream, TokenCount,
};

/// A model with others that answer if it fails; see [`ChatModelExt::or`](super::ChatModelExt::or).
#[derive(Clone)]
pub struct FallbackModel {
    models: Vec<Arc<dyn ChatModel>>,
    worth: Arc<Worth>,
}

type Worth = dyn Fn(&ModelError) -> bool + Send + Sync;

impl FallbackModel {
    pub(super) fn new(first: impl ChatModel + 'static, second: impl ChatModel + 'static) -> Self {
        Self {
            models: vec![Arc::new(first), Arc::new(second)],
            worth: Arc::new(|error| *error.kind() != ModelErrorKind::BudgetExceeded),
        }
    }

    /// Adds a model that answers if all others fail.
    #[must_use]
    pub fn or(mut self, model: impl ChatModel + 'static) -> Self {
        self.models.push(Arc::new(model));
        self
    }

    /// Sets the errors after which the next model is asked; by default all.
    #[must_use]
    pub fn when(mut self, worth: impl Fn(&ModelError) -> bool + Send + Sync + 'static) -> Self {
        self.worth = Arc::new(worth);
        self
    }

    async fn step<'a>(
        &'a self,
        request: ChatRequest,
        turn: Option<FallbackStep<'a>>,
    ) -> Option<(Chunk, Option<FallbackStep<'a>>)> {
        let mut index = match turn? {
            FallbackStep::Asks(index) => index,
            FallbackStep::Streams(index, mut stream) => {
                let chunk = next(&mut stream).await?;
                let chunk = chunk.map_err(|error| self.signed(index, error));
                return Some((chunk, Some(FallbackStep::Streams(index, stream))));
            }
        };
        loop {
            let mut stream = self.models.get(index)?.stream(request.clone());
            let first = next(&mut stream).await;
            // A stream without a chunk is an answer that was cut off.
            let first = first.unwrap_or_else(|| Err(ModelError::cut_off()));
            match first.map_err(|error| self.signed(index, error)) {
                Err(error) if self.goes_on(index, &error) => request.charge(&error),
                chunk => {
                    let chunk = chunk.map(|mut chunk| {
                        self.sign(index, chunk.metadata.get_or_insert_default());
                        chunk
                    });
                    return Some((chunk, Some(FallbackStep::Streams(index, stream))));
                }
            }
            index += 1;
        }
    }

    /// Notes in an error which model gave the answer that it refuses.
    fn signed(&self, index: usize, mut error: ModelError) -> ModelError {
        error.sign(self.models.get(index).and_then(|model| model.name()));
        error
    }

    /// Notes which model answers.
    fn sign(&self, index: usize, metadata: &mut ResponseMetadata) {
        let Some(model) = self.models.get(index) else {
            return;
        };
        let mut own = ResponseMetadata::default();
        own.name = model.name().map(str::to_owned);
        own.provider = model.provider().map(str::to_owned);
        metadata.complete(own);
    }

    fn goes_on(&self, index: usize, error: &ModelError) -> bool {
        index + 1 < self.models.len() && (self.worth)(error)
    }
}

type Chunk = Result<MessageChunk, ModelError>;

enum FallbackStep<'a> {
    Asks(usize),
    Streams(usize, ModelStream<'a>),
}

#[async_trait]
impl ChatModel for FallbackModel {
    /// The name of the first model. An answer says which model gave it:
    /// [`ChatResponse::metadata`].
    fn name(&self) -> Option<&str> {
        self.models.first()?.name()
    }

    fn provider(&self) -> Option<&str> {
        self.models.first()?.provider()
    }

    fn names(&self) -> Vec<&str> {
        self.models.iter().flat_map(|model| model.names()).collect()
    }

    /// What all models add; nothing if one of them adds something else.
    fn prepare(&self, request: ChatRequest) -> ChatRequest {
        let models = self.models.iter();
        let mut prepared = models.map(|model| model.prepare(request.clone()));
        match prepared.next() {
            Some(first) if prepared.all(|other| other == first) => first,
            _ => request,
        }
    }

    /// The answer that the first model knows: the others are called only if it fails.
    async fn cached_answer(&self, request: &ChatRequest) -> Option<ChatResponse> {
        let mut response = self.models.first()?.cached_answer(request).await?;
        self.sign(0, &mut response.metadata);
        Some(response)
    }

    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        for (index, model) in self.models.iter().enumerate() {
            let answer = model.generate(request.clone()).await;
            match answer.map_err(|error| self.signed(index, error)) {
                Err(error) if self.goes_on(index, &error) => request.charge(&error),
                answer => {
                    return answer.map(|mut response| {
                        self.sign(index, &mut response.metadata);
                        response
                    });
                }
            }
        }
        Err(ModelError::no_model())
    }

    /// Another model is asked only as long as nothing of an answer has arrived.
    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        unfold(Some(FallbackStep::Asks(0)), move |turn| {
            self.step(request.clone(), turn)
        })
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        match self.models.first() {
            Some(model) => model.count_tokens(request).await,
            None => Ok(TokenCount::estimate(request)),
        }
    }
}

impl fmt::Debug for FallbackModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FallbackModel")
            .field("models", &self.models.len())
            .finish_non_exhaustive()
    }
}
