//! A model of a provider, and how it is configured.

use std::fmt;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::chat::ChatOptions;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget, WebConfig};
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream, async_trait,
};

use crate::stream::Chunks;
use crate::{address, error, request, response};

/// A model before it is built: whose it is, where, and how long to wait.
///
/// # Examples
///
/// A server on this machine that speaks the protocol of `OpenAI`:
///
/// ```
/// use langgraph_genai::Model;
///
/// let model = Model::openai("qwen3").base_url("http://127.0.0.1:8000/v1").build()?;
/// # Ok::<(), langgraph_agent::ModelError>(())
/// ```
#[derive(Clone)]
#[must_use = "a model is built before it is asked"]
pub struct Model {
    provider: Provider,
    name: String,
    key: Option<String>,
    address: Option<String>,
    connect_timeout: Duration,
    idle_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provider {
    OpenAi,
    Anthropic,
    Ollama,
    /// Known by the model's name.
    Named,
}

impl Model {
    /// A model of `OpenAI`, or of a server that speaks its protocol.
    pub fn openai(name: impl Into<String>) -> Self {
        Self::new(Provider::OpenAi, name)
    }

    /// A model of Anthropic.
    pub fn anthropic(name: impl Into<String>) -> Self {
        Self::new(Provider::Anthropic, name)
    }

    /// A model that Ollama runs; on this machine unless told otherwise.
    pub fn ollama(name: impl Into<String>) -> Self {
        Self::new(Provider::Ollama, name)
    }

    /// A model whose provider its name tells, as `genai` names them: `deepseek-chat`, `gemini-2.5-pro`,
    /// `bigmodel::glm-4.6`. Unless a key is given, it is read from the provider's own variable.
    pub fn named(name: impl Into<String>) -> Self {
        Self::new(Provider::Named, name)
    }

    fn new(provider: Provider, name: impl Into<String>) -> Self {
        Self {
            provider,
            name: name.into(),
            key: None,
            address: None,
            connect_timeout: Duration::from_secs(15),
            idle_timeout: Duration::from_secs(300),
        }
    }

    /// The key that the provider gave you. Servers on your own machine rarely want one.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Where the model is, up to the part that all its paths share: `http://127.0.0.1:8000/v1`.
    pub fn base_url(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// How long a connection may take; 15 seconds unless set.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// How long the provider may say nothing; five minutes unless set. An answer that keeps coming
    /// may take as long as it likes: bound the node for that.
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = limit;
        self
    }

    /// The model, ready to be asked. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ModelErrorKind::InvalidRequest`] when the name or the address is wrong, or the address
    /// needs TLS and this crate was built without.
    pub fn build(self) -> Result<GenaiModel, ModelError> {
        if self.name.trim().is_empty() {
            return Err(ModelError::new(
                ModelErrorKind::InvalidRequest,
                "the model has no name",
            ));
        }
        let mut web = WebConfig::default().with_connect_timeout(self.connect_timeout);
        // Between two pieces of an answer. A limit on the whole would cut off long ones.
        web.read_timeout = Some(self.idle_timeout);
        let client = Client::builder().with_web_config(web).build();
        let client = client
            .map_err(|error| ModelError::new(ModelErrorKind::InvalidRequest, error.to_string()))?;
        Ok(GenaiModel {
            target: self.target(&client)?,
            name: self.name,
            idle_timeout: self.idle_timeout,
            client,
        })
    }

    fn target(&self, client: &Client) -> Result<Target, ModelError> {
        let kind = match self.provider {
            Provider::OpenAi => AdapterKind::OpenAI,
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::Ollama => AdapterKind::Ollama,
            Provider::Named => {
                let iden = client
                    .default_model(&self.name)
                    .map_err(error::from_genai)?;
                iden.adapter_kind
            }
        };
        let iden = ModelIden::new(kind, self.name.as_str());
        if self.provider == Provider::Named && self.address.is_none() && self.key.is_none() {
            return Ok(Target::Resolved(iden));
        }
        let endpoint = match (&self.address, self.provider) {
            (Some(address), _) => address::normal(address)?,
            (None, Provider::OpenAi) => address::normal("https://api.openai.com/v1/")?,
            (None, Provider::Anthropic) => address::normal("https://api.anthropic.com/v1/")?,
            (None, Provider::Ollama) => address::normal("http://127.0.0.1:11434/")?,
            (None, Provider::Named) => return Ok(Target::Keyed(iden, self.auth())),
        };
        Ok(Target::Full(ServiceTarget {
            endpoint: Endpoint::from_owned(endpoint),
            auth: self.auth(),
            model: iden,
        }))
    }

    fn auth(&self) -> AuthData {
        // Servers without keys take any; without a header some refuse.
        AuthData::from_single(self.key.clone().unwrap_or_else(|| "none".to_owned()))
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("provider", &self.provider)
            .field("name", &self.name)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Where requests go.
#[derive(Clone)]
enum Target {
    /// Address and key are given.
    Full(ServiceTarget),
    /// The key is given, the address is the provider's.
    Keyed(ModelIden, AuthData),
    /// Address and key are the provider's: the key is in the environment.
    Resolved(ModelIden),
}

/// A chat model of a provider; [`Model`] makes one.
///
/// Clones share their connections.
#[derive(Clone)]
pub struct GenaiModel {
    pub(crate) client: Client,
    target: Target,
    name: String,
    idle_timeout: Duration,
}

impl GenaiModel {
    /// The model's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) async fn target(&self) -> Result<ServiceTarget, ModelError> {
        let (iden, auth) = match &self.target {
            Target::Full(target) => return Ok(target.clone()),
            Target::Keyed(iden, auth) => (iden, Some(auth)),
            Target::Resolved(iden) => (iden, None),
        };
        let resolved = self.client.resolve_service_target(iden.clone()).await;
        let mut target = resolved.map_err(error::from_genai)?;
        if let Some(auth) = auth {
            target.auth = auth.clone();
        }
        if target.endpoint.base_url().starts_with("https:") {
            address::tls(target.endpoint.base_url())?;
        }
        Ok(target)
    }

    async fn answer(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let target = self.target().await?;
        // The raw body is for what genai cannot read.
        let options = request::options(&request).with_capture_raw_body(true);
        let request = request::convert(request)?;
        match self.client.exec_chat(target, request, Some(&options)).await {
            Ok(response) => Ok(response::convert(response)),
            Err(error) => response::rescued(&error).ok_or_else(|| error::from_genai(error)),
        }
    }

    async fn open(&self, request: ChatRequest) -> Result<genai::chat::ChatStream, ModelError> {
        let target = self.target().await?;
        let options: ChatOptions = request::options(&request)
            // What the stream has gathered is what its end is checked against.
            .with_capture_usage(true)
            .with_capture_tool_calls(true)
            .with_stream_header_timeout(self.idle_timeout)
            .with_stream_read_timeout(self.idle_timeout);
        let request = request::convert(request)?;
        let response = self
            .client
            .exec_chat_stream(target, request, Some(&options));
        Ok(response.await.map_err(error::from_genai)?.stream)
    }
}

#[async_trait]
impl ChatModel for GenaiModel {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        self.answer(request).await
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        Box::pin(Chunks::new(Box::pin(self.open(request))))
    }
}

impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModel")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
