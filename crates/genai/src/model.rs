//! Models of providers and their configuration.

use std::fmt;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatStream};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget, WebConfig};
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream, TokenCount,
    async_trait,
};

use crate::stream::Chunks;
use crate::{address, count, error, request, response};

/// The configuration of a model: its provider, its address, and its time limits.
///
/// # Examples
///
/// A server on this machine with the protocol of `OpenAI`:
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
    exact_counts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provider {
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
    /// The model's name determines the provider.
    Named,
}

impl Model {
    /// Configures a model of `OpenAI`, or of a server with its protocol.
    pub fn openai(name: impl Into<String>) -> Self {
        Self::new(Provider::OpenAi, name)
    }

    /// Configures a model of Anthropic.
    pub fn anthropic(name: impl Into<String>) -> Self {
        Self::new(Provider::Anthropic, name)
    }

    /// Configures a model of Gemini.
    pub fn gemini(name: impl Into<String>) -> Self {
        Self::new(Provider::Gemini, name)
    }

    /// Configures a model of Ollama; by default on this machine.
    pub fn ollama(name: impl Into<String>) -> Self {
        Self::new(Provider::Ollama, name)
    }

    /// Configures a model whose name implies its provider, as `genai` names them: `deepseek-chat`,
    /// `xai::grok-4`, `bigmodel::glm-4.6`. The default key comes from the provider's own
    /// variable.
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
            exact_counts: false,
        }
    }

    /// Sets the API key. Servers on your own machine rarely need one.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the base address, which all paths share: `http://127.0.0.1:8000/v1`.
    pub fn base_url(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Limits the time to connect; the default is 15 seconds.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Limits the time without data from the provider; the default is five minutes. An answer that
    /// keeps coming may take any time: to limit that, set a timeout on the node.
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = limit;
        self
    }

    /// Lets the provider count the tokens of a request, if it does: Anthropic and Gemini. Each
    /// [`count_tokens`](ChatModel::count_tokens), also that of a budget before a call, is then a request of
    /// its own. Without this, and at other providers, the count is an estimate.
    pub fn exact_counts(mut self) -> Self {
        self.exact_counts = true;
        self
    }

    /// Builds the model. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ModelErrorKind::InvalidRequest`] if the name or the address is wrong, or if the address
    /// needs TLS and this crate was built without it.
    pub fn build(self) -> Result<GenaiModel, ModelError> {
        if self.name.trim().is_empty() {
            return Err(ModelError::new(
                ModelErrorKind::InvalidRequest,
                "the model has no name",
            ));
        }
        let mut web = WebConfig::default().with_connect_timeout(self.connect_timeout);
        // The limit between two pieces of an answer. A limit on the whole would cut off long
        // answers.
        web.read_timeout = Some(self.idle_timeout);
        let client = Client::builder().with_web_config(web).build();
        let client = client
            .map_err(|error| ModelError::new(ModelErrorKind::InvalidRequest, error.to_string()))?;
        let counter = self.exact_counts.then(|| {
            let client = reqwest::Client::builder().connect_timeout(self.connect_timeout);
            client.read_timeout(self.idle_timeout).build()
        });
        let counter = counter
            .transpose()
            .map_err(|error| ModelError::new(ModelErrorKind::InvalidRequest, error.to_string()))?;
        Ok(GenaiModel {
            counter,
            target: self.target(&client)?,
            provider: match self.provider {
                Provider::OpenAi => Some("openai"),
                Provider::Anthropic => Some("anthropic"),
                Provider::Gemini => Some("gcp.gemini"),
                Provider::Ollama => Some("ollama"),
                Provider::Named => None,
            },
            name: self.name,
            idle_timeout: self.idle_timeout,
            client,
        })
    }

    fn target(&self, client: &Client) -> Result<Target, ModelError> {
        let kind = match self.provider {
            Provider::OpenAi => AdapterKind::OpenAI,
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::Gemini => AdapterKind::Gemini,
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
            (None, Provider::Gemini) => {
                address::normal("https://generativelanguage.googleapis.com/v1beta/")?
            }
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
        // Servers without keys accept any; without a header some refuse.
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

/// The target of requests.
#[derive(Clone)]
enum Target {
    /// The user gives address and key.
    Full(ServiceTarget),
    /// The user gives the key, the provider the address.
    Keyed(ModelIden, AuthData),
    /// The provider gives both: the key is in the environment.
    Resolved(ModelIden),
}

/// A chat model of a provider; [`Model`] builds one.
///
/// Clones share their connections.
#[derive(Clone)]
pub struct GenaiModel {
    pub(crate) client: Client,
    target: Target,
    name: String,
    provider: Option<&'static str>,
    idle_timeout: Duration,
    /// For requests that only count tokens.
    counter: Option<reqwest::Client>,
}

impl GenaiModel {
    /// Returns the model's name.
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
        // The raw body serves answers that genai cannot parse.
        let options = request::options(&request).with_capture_raw_body(true);
        let provider = target.model.adapter_kind;
        let request = request::convert(request, provider)?;
        match self.client.exec_chat(target, request, Some(&options)).await {
            Ok(response) => Ok(response::convert(response, provider)),
            Err(error) => response::rescued(&error).ok_or_else(|| error::from_genai(error)),
        }
    }

    /// Returns how many tokens the provider counts; `None` if it does not.
    async fn counted(&self, request: &ChatRequest) -> Result<Option<u64>, ModelError> {
        let Some(client) = &self.counter else {
            return Ok(None);
        };
        let ServiceTarget {
            endpoint,
            auth,
            model,
        } = self.target().await?;
        let key = auth.single_key_value().map_err(|error| {
            ModelError::new(
                ModelErrorKind::Auth,
                format!("no key to count tokens: {error}"),
            )
        })?;
        let Some(count) = count::request(model.adapter_kind, &model.model_name, key, request)
        else {
            return Ok(None);
        };
        let mut post = client
            .post(format!("{}{}", endpoint.base_url(), count.path))
            .header("content-type", "application/json")
            .body(count.body.to_string());
        for (name, value) in count.headers {
            post = post.header(name, value);
        }
        let response = post.send().await.map_err(error::from_transport)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.text().await.map_err(error::from_transport)?;
        match status {
            200..300 => {}
            // A server with the protocol, but without this part of it.
            404 | 405 | 501 => return Ok(None),
            _ => {
                let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
                return Err(error::from_status(status, &body, header));
            }
        }
        let body: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
        let tokens = body[count.field].as_u64();
        tokens.map(Some).ok_or_else(|| {
            let kind = ModelErrorKind::Provider { status: None };
            ModelError::new(kind, "the provider's count of tokens has no number")
        })
    }

    async fn open(&self, request: ChatRequest) -> Result<(AdapterKind, ChatStream), ModelError> {
        let target = self.target().await?;
        let options: ChatOptions = request::options(&request)
            // The end of the stream is checked against what it has collected.
            .with_capture_usage(true)
            .with_capture_tool_calls(true)
            .with_stream_header_timeout(self.idle_timeout)
            .with_stream_read_timeout(self.idle_timeout);
        let provider = target.model.adapter_kind;
        let request = request::convert(request, provider)?;
        let response = self
            .client
            .exec_chat_stream(target, request, Some(&options));
        Ok((provider, response.await.map_err(error::from_genai)?.stream))
    }
}

#[async_trait]
impl ChatModel for GenaiModel {
    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn provider(&self) -> Option<&str> {
        self.provider
    }

    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        self.answer(request).await
    }

    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        let counted = self.counted(request).await?;
        Ok(counted.map_or_else(|| TokenCount::estimate(request), TokenCount::exact))
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
