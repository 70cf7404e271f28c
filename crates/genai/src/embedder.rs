//! A provider's embedding model, for searches by meaning.

use std::fmt;

use genai::embed::EmbedRequest;
use langgraph_agent::ModelError;
use langgraph_store::{EmbedError, Embedder, async_trait};

use crate::{GenaiModel, Model, error};

/// The number of texts in a request, which every provider accepts.
const TEXTS: usize = 64;

/// A provider's embedding model, for the searches of a [`Store`](langgraph_store::Store).
///
/// Texts are sent 64 at a time, one request after the other. The embedder does not retry: the node
/// that uses the store does, with `.retry(..)`.
///
/// # Examples
///
/// ```no_run
/// use langgraph_store::{MemoryStore, StoreOptions};
/// use langgraph_genai::Model;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let embedder = Model::openai("text-embedding-3-small").api_key("sk-…").embedder(1536)?;
/// let store = MemoryStore::with(StoreOptions::default().embedder(embedder).fields(["text"]));
/// # Ok(())
/// # }
/// ```
pub struct GenaiEmbedder {
    model: GenaiModel,
    dimensions: usize,
}

impl Model {
    /// Creates an embedder from the model. `dimensions` is the length of its vectors, as its
    /// documentation says. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn embedder(self, dimensions: usize) -> Result<GenaiEmbedder, ModelError> {
        Ok(GenaiEmbedder {
            model: self.build()?,
            dimensions,
        })
    }
}

impl GenaiEmbedder {
    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for texts in texts.chunks(TEXTS) {
            let target = self.model.target().await?;
            let request = EmbedRequest::new_batch(texts.to_vec());
            let response = self.model.client.exec_embed(target, request, None).await;
            let mut embeddings = response.map_err(error::from_genai)?.embeddings;
            if embeddings.len() != texts.len() {
                let (found, expected) = (embeddings.len(), texts.len());
                return Err(
                    format!("the provider gave {found} vectors for {expected} texts").into(),
                );
            }
            // Providers number the embeddings, and guarantee no order.
            embeddings.sort_by_key(|embedding| embedding.index);
            vectors.extend(embeddings.into_iter().map(|embedding| embedding.vector));
        }
        Ok(vectors)
    }
}

#[async_trait]
impl Embedder for GenaiEmbedder {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.vectors(texts).await
    }
}

impl fmt::Debug for GenaiEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiEmbedder")
            .field("model", &self.model)
            .field("dimensions", &self.dimensions)
            .finish()
    }
}
