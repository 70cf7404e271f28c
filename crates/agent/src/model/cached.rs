//! A model that does not answer the same request twice.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::stream::{Whole, next, unfold};
use super::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelStream, TokenCount};
use langgraph::message::MessageAccumulator;

/// Keeps the answers of a [`CachedModel`] under the [digest](ChatRequest::digest) of their requests.
#[async_trait]
pub trait ModelCache: Send + Sync + 'static {
    /// Returns the answer to the request with that digest.
    async fn get(&self, digest: &str) -> Option<ChatResponse>;

    /// Stores an answer.
    async fn put(&self, digest: &str, response: &ChatResponse);
}

/// Answers in memory, for a time.
pub struct MemoryModelCache {
    ttl: Duration,
    kept: Mutex<HashMap<String, (ChatResponse, Instant)>>,
}

impl MemoryModelCache {
    /// Creates a cache that forgets an answer after `ttl`.
    pub fn new(ttl: Duration) -> Self {
        Self {
            ttl,
            kept: Mutex::default(),
        }
    }
}

#[async_trait]
impl ModelCache for MemoryModelCache {
    async fn get(&self, digest: &str) -> Option<ChatResponse> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (response, stored) = kept.get(digest)?;
        (stored.elapsed() < self.ttl).then(|| response.clone())
    }

    async fn put(&self, digest: &str, response: &ChatResponse) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (_, stored)| stored.elapsed() < self.ttl);
        kept.insert(digest.to_owned(), (response.clone(), Instant::now()));
    }
}

#[async_trait]
impl<C: ModelCache + ?Sized> ModelCache for Arc<C> {
    async fn get(&self, digest: &str) -> Option<ChatResponse> {
        (**self).get(digest).await
    }

    async fn put(&self, digest: &str, response: &ChatResponse) {
        (**self).put(digest, response).await;
    }
}

impl fmt::Debug for MemoryModelCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryModelCache")
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}

/// A model that answers an equal request from a cache; see
/// [`ChatModelExt::cached`](super::ChatModelExt::cached).
///
/// An answer from the cache has no usage and is marked as [cached](langgraph::message::ResponseMetadata::cached),
/// because it costs nothing, also for a budget. It has no message id, so that a chat may hold it twice.
#[derive(Clone)]
pub struct CachedModel<M> {
    model: M,
    cache: Arc<dyn ModelCache>,
}

impl<M> CachedModel<M> {
    pub(super) fn new(model: M, cache: impl ModelCache) -> Self {
        Self {
            model,
            cache: Arc::new(cache),
        }
    }

    async fn put(&self, digest: &str, mut response: ChatResponse) {
        response.message.id = None;
        response.usage = None;
        self.cache.put(digest, &response).await;
    }

    async fn known(&self, digest: &str) -> Option<ChatResponse> {
        let mut response = self.cache.get(digest).await?;
        response.metadata.cached = true;
        Some(response)
    }
}

enum CachedStep<'a> {
    Looks(Box<ChatRequest>),
    Streams(ModelStream<'a>, Box<Option<MessageAccumulator>>, String),
}

#[async_trait]
impl<M: ChatModel> ChatModel for CachedModel<M> {
    fn name(&self) -> Option<&str> {
        self.model.name()
    }

    fn provider(&self) -> Option<&str> {
        self.model.provider()
    }

    fn names(&self) -> Vec<&str> {
        self.model.names()
    }

    fn prepare(&self, request: ChatRequest) -> ChatRequest {
        self.model.prepare(request)
    }

    async fn cached_answer(&self, request: &ChatRequest) -> Option<ChatResponse> {
        self.known(&request.digest()).await
    }

    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let digest = request.digest();
        if let Some(response) = self.known(&digest).await {
            return Ok(response);
        }
        let response = self.model.generate(request).await?;
        self.put(&digest, response.clone()).await;
        Ok(response)
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        unfold(
            Some(CachedStep::Looks(Box::new(request))),
            move |turn| async move {
                let (mut stream, mut reply, digest) = match turn? {
                    CachedStep::Streams(stream, reply, digest) => (stream, *reply, digest),
                    CachedStep::Looks(request) => {
                        let digest = request.digest();
                        if let Some(known) = self.known(&digest).await {
                            (Whole::known(known), None, digest)
                        } else {
                            let stream = self.model.stream(*request);
                            (stream, Some(MessageAccumulator::new()), digest)
                        }
                    }
                };
                let chunk = next(&mut stream).await;
                match (&chunk, &mut reply) {
                    (Some(Ok(chunk)), Some(reply)) => reply.push(chunk.clone()),
                    (Some(Err(_)), reply) => *reply = None,
                    (None, reply) => {
                        let whole = reply.take().map(ChatResponse::from_chunks);
                        if let Some(Ok(response)) = whole {
                            self.put(&digest, response).await;
                        }
                    }
                    _ => {}
                }
                chunk.map(|chunk| {
                    (
                        chunk,
                        Some(CachedStep::Streams(stream, Box::new(reply), digest)),
                    )
                })
            },
        )
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        self.model.count_tokens(request).await
    }
}

impl<M: fmt::Debug> fmt::Debug for CachedModel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedModel")
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
