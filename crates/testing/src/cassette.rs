//! Recorded exchanges with a model.

mod difference;
mod error;
mod exchange;
mod file;
mod recording;
mod replaying;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelStream, TokenCount, async_trait,
};

pub use error::CassetteError;
pub(crate) use exchange::Exchange;
use exchange::ModelName;
use file::CassetteFile;
use recording::Recording;
use replaying::Replaying;

/// A model that replays recorded exchanges from a file, or records them from a real model.
///
/// A replayed call costs what the recorded one has cost, with the answers that a fallback refused before it.
///
/// An exchange is found by the [digest](ChatRequest::digest) of its request. Requests that are equal
/// get their answers in the order in which they were made. A request that was not recorded is an error,
/// which shows how it differs from the nearest recorded one: nothing is ever sent to a real model
/// while a cassette replays.
///
/// A call that has failed fails again, with the kind and the text of the error, so that retries and fallbacks go the
/// same way. A retry does not wait for as long as the provider has asked.
///
/// A stream whose reader leaves it before its end is recorded as far as it was read: nothing is requested that the
/// program did not ask for. It replays these chunks. A reader that then reads on gets an error, and so does a call for
/// the whole answer. Of a stream that was left before its first chunk nothing is recorded.
///
/// A cassette stands around the model of a provider, with or without a cache and others that answer if it fails. Tools are
/// bound around it: its file has the requests that it gets.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ChatModel, ChatRequest, ScriptedModel};
/// use langgraph::message::Message;
/// use langgraph_testing::Cassette;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("greeting.json");
/// let question = || ChatRequest::new(vec![Message::user("Hi")]);
///
/// // Once, with the real model:
/// let model = Cassette::record(&file, ScriptedModel::new(["Hello!"]))?;
/// model.generate(question()).await?;
///
/// // In every test:
/// let model = Cassette::replay(&file)?;
/// assert_eq!(model.generate(question()).await?.message.text(), "Hello!");
///
/// let other = ChatRequest::new(vec![Message::user("Bye")]);
/// let error = model.generate(other).await.unwrap_err().to_string();
/// assert!(error.contains("-         \"User\": \"Hi\"") || error.contains("Hi"), "{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Cassette(Arc<Inner>);

struct Inner {
    clean: Option<Box<Clean>>,
    /// The model whose exchanges these are.
    model: ModelName,
    mode: Mode,
}

enum Mode {
    Records(Recording),
    Replays(Replaying),
}

type Clean = dyn Fn(ChatRequest) -> ChatRequest + Send + Sync;

/// The environment variable that makes [`Cassette::open`] record.
pub(crate) const RECORD: &str = "LANGGRAPH_RECORD";

impl Cassette {
    /// Replays the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no recording.
    pub fn replay(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let replaying = Replaying::new(CassetteFile::new(path))?;
        Ok(Self::new(replaying.model(), Mode::Replays(replaying)))
    }

    /// Replays exchanges that were read from the file `path`.
    pub(crate) fn of(path: impl AsRef<Path>, exchanges: Vec<Exchange>) -> Self {
        let replaying = Replaying::of(CassetteFile::new(path), exchanges);
        Self::new(replaying.model(), Mode::Replays(replaying))
    }

    /// Records the exchanges with `model`. The first answer replaces the file; a call that fails puts
    /// the earlier file back, until a later call succeeds or [`finish`](Self::finish) is called.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn record(
        path: impl AsRef<Path>,
        model: impl ChatModel + 'static,
    ) -> Result<Self, CassetteError> {
        let name = ModelName::of(&model);
        let recording = Recording::new(CassetteFile::new(path), Box::new(model))?;
        Ok(Self::new(name, Mode::Records(recording)))
    }

    /// Replays the file; or records it, if the environment variable `LANGGRAPH_RECORD` is set.
    /// `model` is called for the model to record, and only then.
    ///
    /// # Errors
    ///
    /// As [`replay`](Self::replay) and [`record`](Self::record).
    pub fn open<M: ChatModel + 'static>(
        path: impl AsRef<Path>,
        model: impl FnOnce() -> M,
    ) -> Result<Self, CassetteError> {
        match std::env::var_os(RECORD) {
            Some(_) => Self::record(path, model()),
            None => Self::replay(path),
        }
    }

    /// Cleans each request before it is stored and before it is looked up: removes the time of day,
    /// a name, a secret.
    ///
    /// # Errors
    ///
    /// If a clone of the cassette exists already.
    pub fn cleaned(
        mut self,
        clean: impl Fn(ChatRequest) -> ChatRequest + Send + Sync + 'static,
    ) -> Result<Self, CassetteError> {
        match Arc::get_mut(&mut self.0) {
            Some(inner) => inner.clean = Some(Box::new(clean)),
            None => return Err(CassetteError::Shared),
        }
        Ok(self)
    }

    /// Checks that every recorded exchange was replayed; or, while recording, that all could be written. A recording that
    /// ends in calls that have failed, where a fallback has answered instead, is written here.
    ///
    /// # Errors
    ///
    /// [`CassetteError::Unused`], with the number of those that were not replayed. [`CassetteError::Write`], if the file
    /// could not be written, now or when the reader of a stream had left.
    pub fn finish(&self) -> Result<(), CassetteError> {
        match &self.0.mode {
            Mode::Records(recording) => recording.finish(),
            Mode::Replays(replaying) => replaying.finish(),
        }
    }

    /// Returns the recorded exchanges, without those that this cassette records.
    pub(crate) fn exchanges(&self) -> &[Exchange] {
        match &self.0.mode {
            Mode::Records(_) => &[],
            Mode::Replays(replaying) => replaying.exchanges(),
        }
    }

    /// Returns the request as it is stored and looked up.
    pub(crate) fn clean(&self, request: ChatRequest) -> ChatRequest {
        match &self.0.clean {
            Some(clean) => clean(request),
            None => request,
        }
    }

    fn new(model: ModelName, mode: Mode) -> Self {
        Self(Arc::new(Inner {
            clean: None,
            model,
            mode,
        }))
    }
}

#[async_trait]
impl ChatModel for Cassette {
    fn name(&self) -> Option<&str> {
        self.0.model.name.as_deref()
    }

    fn provider(&self) -> Option<&str> {
        self.0.model.provider.as_deref()
    }

    fn names(&self) -> Vec<&str> {
        self.0.model.names()
    }

    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let clean = self.clean(request.clone());
        match &self.0.mode {
            Mode::Records(recording) => recording.generate(&request, clean, &self.0.model).await,
            Mode::Replays(replaying) => replaying.response(&request, &clean),
        }
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        let clean = self.clean(request.clone());
        match &self.0.mode {
            Mode::Records(recording) => recording.stream(&request, clean, &self.0.model),
            Mode::Replays(replaying) => {
                let chunks = async move { stream::iter(replaying.chunks(&request, &clean)) };
                Box::pin(stream::once(chunks).flatten())
            }
        }
    }

    async fn cached_answer(&self, request: &ChatRequest) -> Option<ChatResponse> {
        let clean = || self.clean(request.clone());
        match &self.0.mode {
            Mode::Records(recording) => {
                recording.cached_answer(request, clean, &self.0.model).await
            }
            Mode::Replays(replaying) => replaying.cached_answer(&clean()),
        }
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        // The same while recording and while replaying.
        Ok(TokenCount::estimate(request))
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette")
            .field("model", &self.0.model.name)
            .field("records", &matches!(self.0.mode, Mode::Records(_)))
            .finish_non_exhaustive()
    }
}
