//! Recorded exchanges with a model.

mod difference;
mod error;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, TokenCount, async_trait,
};
use serde::{Deserialize, Serialize};

use difference::difference;
pub use error::CassetteError;

/// A model that replays recorded exchanges from a file, or records them from a real model.
///
/// An exchange is found by the [digest](ChatRequest::digest) of its request. Requests that are equal
/// get their answers in the order of the recording. A request that was not recorded is an error,
/// which shows how it differs from the nearest recorded one: nothing is ever sent to a real model
/// while a cassette replays.
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
    path: PathBuf,
    /// The model that is recorded; none while replaying.
    model: Option<Box<dyn ChatModel>>,
    clean: Option<Box<Clean>>,
    tape: Mutex<Tape>,
}

type Clean = dyn Fn(ChatRequest) -> ChatRequest + Send + Sync;

#[derive(Default)]
struct Tape {
    exchanges: Vec<Exchange>,
    /// For each exchange, whether it was replayed.
    used: Vec<bool>,
}

/// A request and its answer, as they are stored.
#[derive(Clone, Serialize, Deserialize)]
struct Exchange {
    digest: String,
    request: ChatRequest,
    response: ChatResponse,
}

/// The environment variable that makes [`Cassette::open`] record.
const RECORD: &str = "LANGGRAPH_RECORD";

impl Cassette {
    /// Replays the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no recording.
    pub fn replay(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let path = path.as_ref().to_owned();
        let text = fs::read_to_string(&path).map_err(|error| CassetteError::read(&path, error))?;
        let exchanges: Vec<Exchange> =
            serde_json::from_str(&text).map_err(|error| CassetteError::read(&path, error))?;
        let tape = Tape {
            used: vec![false; exchanges.len()],
            exchanges,
        };
        Ok(Self::new(path, None, tape))
    }

    /// Records the exchanges with `model`, and replaces the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn record(
        path: impl AsRef<Path>,
        model: impl ChatModel + 'static,
    ) -> Result<Self, CassetteError> {
        let path = path.as_ref().to_owned();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| CassetteError::write(&path, error))?;
        }
        let cassette = Self::new(path, Some(Box::new(model)), Tape::default());
        cassette.save(&[])?;
        Ok(cassette)
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

    /// Checks that every recorded exchange was replayed.
    ///
    /// # Errors
    ///
    /// [`CassetteError::Unused`], with the number of those that were not.
    pub fn finish(&self) -> Result<(), CassetteError> {
        let unused = self.tape().used.iter().filter(|used| !**used).count();
        match unused {
            0 => Ok(()),
            unused => Err(CassetteError::Unused {
                path: self.0.path.clone(),
                unused,
            }),
        }
    }

    fn new(path: PathBuf, model: Option<Box<dyn ChatModel>>, tape: Tape) -> Self {
        Self(Arc::new(Inner {
            path,
            model,
            clean: None,
            tape: Mutex::new(tape),
        }))
    }

    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.0.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clean(&self, request: ChatRequest) -> ChatRequest {
        match &self.0.clean {
            Some(clean) => clean(request),
            None => request,
        }
    }

    fn save(&self, exchanges: &[Exchange]) -> Result<(), CassetteError> {
        let path = &self.0.path;
        let text = serde_json::to_string_pretty(exchanges)
            .map_err(|error| CassetteError::write(path, error))?;
        // A recording that is cut off leaves the file as it was.
        let draft = path.with_extension("draft");
        let written = fs::write(&draft, text + "\n").and_then(|()| fs::rename(&draft, path));
        written.map_err(|error| CassetteError::write(path, error))
    }

    fn find(&self, request: &ChatRequest) -> Result<ChatResponse, ModelError> {
        let request = self.clean(request.clone());
        let digest = request.digest();
        let mut tape = self.tape();
        let Tape { exchanges, used } = &mut *tape;
        let mut found = exchanges
            .iter()
            .zip(used.iter_mut())
            .filter(|(exchange, _)| exchange.digest == digest);
        if let Some((exchange, used)) = found.find(|(_, used)| !**used) {
            *used = true;
            return Ok(exchange.response.clone());
        }
        let known = exchanges
            .iter()
            .filter(|exchange| exchange.digest == digest)
            .count();
        let path = self.0.path.display();
        let text = if known > 0 {
            format!(
                "`{path}` has {known} answers to this request, and all are replayed; record it again"
            )
        } else {
            let requests = exchanges.iter().map(|exchange| &exchange.request);
            let nearest = difference(requests, &request);
            format!("`{path}` has no answer to this request; record it with {RECORD}=1\n{nearest}")
        };
        Err(ModelError::new(ModelErrorKind::InvalidRequest, text))
    }
}

#[async_trait]
impl ChatModel for Cassette {
    fn name(&self) -> Option<&str> {
        self.0.model.as_ref()?.name()
    }

    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let Some(model) = &self.0.model else {
            return self.find(&request);
        };
        let clean = self.clean(request.clone());
        let response = model.generate(request).await?;
        let mut tape = self.tape();
        tape.exchanges.push(Exchange {
            digest: clean.digest(),
            request: clean,
            response: response.clone(),
        });
        tape.used.push(true);
        let saved = self.save(&tape.exchanges);
        saved.map_err(|error| {
            ModelError::new(ModelErrorKind::InvalidRequest, error.to_string()).with_source(error)
        })?;
        Ok(response)
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        // The same while recording and while replaying.
        Ok(TokenCount::estimate(request))
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette")
            .field("path", &self.0.path)
            .field("records", &self.0.model.is_some())
            .finish_non_exhaustive()
    }
}
