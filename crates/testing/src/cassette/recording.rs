//! A model whose exchanges are recorded.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, StreamExt as _};
use langgraph::message::{MessageAccumulator, MessageChunk};
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream,
};

use super::{CassetteError, CassetteFile, Exchange, ModelName};

/// Records the exchanges of a model.
pub(super) struct Recording {
    file: CassetteFile,
    /// The content of the file before this recording.
    earlier: Option<Vec<u8>>,
    model: Box<dyn ChatModel>,
    exchanges: Mutex<Vec<Exchange>>,
}

/// A streamed answer on its way through.
struct Streamed<'a> {
    stream: ModelStream<'a>,
    chunks: Vec<MessageChunk>,
    reply: MessageAccumulator,
}

impl Recording {
    pub(super) fn new(
        file: CassetteFile,
        model: Box<dyn ChatModel>,
    ) -> Result<Self, CassetteError> {
        let earlier = file.before_recording()?;
        Ok(Self {
            file,
            earlier,
            model,
            exchanges: Mutex::default(),
        })
    }

    pub(super) async fn generate(
        &self,
        request: ChatRequest,
        clean: ChatRequest,
        model: &ModelName,
    ) -> Result<ChatResponse, ModelError> {
        let answer = self.model.generate(request).await;
        let response = self.noted(answer)?;
        self.keep(Exchange::new(model, clean, response.clone()))?;
        Ok(response)
    }

    pub(super) fn stream<'a>(
        &'a self,
        request: ChatRequest,
        clean: ChatRequest,
        model: &'a ModelName,
    ) -> ModelStream<'a> {
        let streamed = Streamed {
            stream: self.model.stream(request),
            chunks: Vec::new(),
            reply: MessageAccumulator::new(),
        };
        Box::pin(stream::unfold(
            Some((streamed, clean)),
            move |state| async move {
                let (mut streamed, clean) = state?;
                match streamed.stream.next().await {
                    Some(Ok(chunk)) => {
                        streamed.chunks.push(chunk.clone());
                        streamed.reply.push(chunk.clone());
                        Some((Ok(chunk), Some((streamed, clean))))
                    }
                    Some(error) => Some((self.noted(error), Some((streamed, clean)))),
                    None => {
                        let Streamed { chunks, reply, .. } = streamed;
                        let response = self.noted(ChatResponse::from_chunks(reply)).ok()?;
                        let mut exchange = Exchange::new(model, clean, response);
                        exchange.chunks = chunks;
                        let error = self.keep(exchange).err()?;
                        Some((Err(error), None))
                    }
                }
            },
        ))
    }

    fn exchanges(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.exchanges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, exchange: Exchange) -> Result<(), ModelError> {
        let mut exchanges = self.exchanges();
        exchanges.push(exchange);
        self.file.write(&exchanges).map_err(|error| {
            ModelError::new(ModelErrorKind::InvalidRequest, error.to_string()).with_source(error)
        })
    }

    /// Puts the earlier file back if the model has failed.
    fn noted<T>(&self, answer: Result<T, ModelError>) -> Result<T, ModelError> {
        answer.inspect_err(|_| {
            let exchanges = self.exchanges();
            if let Some(earlier) = self.earlier.as_ref().filter(|_| !exchanges.is_empty()) {
                // The error of the model is more important.
                let _ = self.file.replace(earlier);
            }
        })
    }
}
