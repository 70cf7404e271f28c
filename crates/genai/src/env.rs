//! Model selection by environment variables.

use std::sync::Arc;

use langgraph_agent::{ChatModel, ModelError};

use crate::Model;

/// Creates the model that the environment names, or returns `None` if it names none.
///
/// | variable | meaning |
/// |---|---|
/// | `OPENAI_API_KEY` | your key for `OpenAI` |
/// | `OPENAI_BASE_URL` | a server with its protocol; a key is optional then |
/// | `ANTHROPIC_API_KEY` | your key for Anthropic |
/// | `ANTHROPIC_BASE_URL` | a server with its protocol, as Anthropic's own library takes it: without `/v1` |
/// | `GEMINI_API_KEY` | your key for Gemini |
/// | `GOOGLE_GEMINI_BASE_URL` | a server with its protocol, as Google's own library takes it: without `/v1beta` |
/// | `OLLAMA_HOST` | the address of Ollama: `127.0.0.1:11434` |
/// | `MODEL` | the model; each provider has a default |
///
/// The first provider with a key or an address wins, from the top. `MODEL=claude-…` prefers Anthropic,
/// and `MODEL=gemini-…` Gemini, unless `OPENAI_BASE_URL` is set.
///
/// # Errors
///
/// As [`Model::build`].
pub fn from_env() -> Result<Option<Arc<dyn ChatModel>>, ModelError> {
    from_vars(|name| std::env::var(name).ok())
}

/// As [`from_env`], with variables from another source.
///
/// # Errors
///
/// As [`Model::build`].
///
/// # Examples
///
/// ```
/// let none = langgraph_genai::from_vars(|_| None)?;
/// assert!(none.is_none());
///
/// let local = langgraph_genai::from_vars(|name| match name {
///     "OLLAMA_HOST" => Some("127.0.0.1:11434".to_owned()),
///     _ => None,
/// })?;
/// assert!(local.is_some());
/// # Ok::<(), langgraph_agent::ModelError>(())
/// ```
pub fn from_vars(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Arc<dyn ChatModel>>, ModelError> {
    let Some(model) = named(variable) else {
        return Ok(None);
    };
    Ok(Some(Arc::new(model.build()?)))
}

fn named(variable: impl Fn(&str) -> Option<String>) -> Option<Model> {
    let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let name = variable("MODEL");
    let called = |default: &str| name.clone().unwrap_or_else(|| default.to_owned());
    // The libraries of these providers add the version of the interface to the address.
    let with = |model: Model, key: &str, address: &str, version: &str| {
        let (key, address) = (variable(key), variable(address));
        if key.is_none() && address.is_none() {
            return None;
        }
        let model = key.into_iter().fold(model, Model::api_key);
        let versioned = |address: String| match address.trim_end_matches('/') {
            whole if whole.ends_with(version) => address,
            host => format!("{host}{version}"),
        };
        Some(
            address
                .map(versioned)
                .into_iter()
                .fold(model, Model::base_url),
        )
    };
    let anthropic = || {
        let model = Model::anthropic(called("claude-sonnet-4-5"));
        with(model, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "/v1")
    };
    let gemini = || {
        let model = Model::gemini(called("gemini-2.5-flash"));
        with(model, "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "/v1beta")
    };
    if let Some(name) = &name
        && variable("OPENAI_BASE_URL").is_none()
    {
        let preferred = match name {
            name if name.starts_with("claude") => anthropic(),
            name if name.starts_with("gemini") => gemini(),
            _ => None,
        };
        if preferred.is_some() {
            return preferred;
        }
    }
    let (key, address) = (variable("OPENAI_API_KEY"), variable("OPENAI_BASE_URL"));
    if key.is_some() || address.is_some() {
        let mut model = Model::openai(called("gpt-4.1-mini"));
        if let Some(key) = key {
            model = model.api_key(key);
        }
        if let Some(address) = address {
            model = model.base_url(address);
        }
        return Some(model);
    }
    anthropic().or_else(gemini).or_else(|| {
        let host = variable("OLLAMA_HOST")?;
        Some(Model::ollama(called("llama3.2")).base_url(host))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(variables: &[(&str, &str)]) -> Option<String> {
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        named(find).map(|model| format!("{model:?}"))
    }

    #[test]
    fn the_environment_names_the_model() {
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[("MODEL", "gpt-4.1")]), None);
        assert_eq!(chosen(&[("OPENAI_API_KEY", "")]), None);
        for (variables, provider, name) in [
            (&[("OPENAI_API_KEY", "k")][..], "OpenAi", "gpt-4.1-mini"),
            (
                &[("OPENAI_BASE_URL", "http://x/v1"), ("MODEL", "m")],
                "OpenAi",
                "\"m\"",
            ),
            (&[("ANTHROPIC_API_KEY", "k")], "Anthropic", "claude"),
            (
                &[("OLLAMA_HOST", "h"), ("MODEL", "qwen3:4b")],
                "Ollama",
                "qwen3:4b",
            ),
            (
                &[("OPENAI_API_KEY", "k"), ("OLLAMA_HOST", "h")],
                "OpenAi",
                "gpt",
            ),
            (
                &[
                    ("OPENAI_API_KEY", "k"),
                    ("ANTHROPIC_API_KEY", "k"),
                    ("MODEL", "claude-x"),
                ],
                "Anthropic",
                "claude-x",
            ),
            (
                &[
                    ("GEMINI_API_KEY", "k"),
                    ("GOOGLE_GEMINI_BASE_URL", "http://x/"),
                ],
                "Gemini",
                "http://x/v1beta\"",
            ),
            (
                &[("ANTHROPIC_BASE_URL", "http://x/v1")],
                "Anthropic",
                "http://x/v1\"",
            ),
            (
                &[
                    ("OPENAI_API_KEY", "k"),
                    ("GEMINI_API_KEY", "k"),
                    ("MODEL", "gemini-x"),
                ],
                "Gemini",
                "gemini-x",
            ),
        ] {
            let chosen = chosen(variables).unwrap();
            assert!(
                chosen.contains(provider) && chosen.contains(name),
                "{chosen}"
            );
            assert!(!chosen.contains("\"k\""), "{chosen}");
        }
    }
}
