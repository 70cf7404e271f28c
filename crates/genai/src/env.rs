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
/// | `OLLAMA_HOST` | the address of Ollama: `127.0.0.1:11434` |
/// | `MODEL` | the model; each provider has a default |
///
/// The first variable that is set wins, from the top; `MODEL=claude-…` prefers Anthropic if its key
/// is set.
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
    let anthropic = || {
        variable("ANTHROPIC_API_KEY")
            .map(|key| Model::anthropic(called("claude-sonnet-4-5")).api_key(key))
    };
    if name
        .as_deref()
        .is_some_and(|name| name.starts_with("claude"))
        && variable("OPENAI_BASE_URL").is_none()
        && let Some(model) = anthropic()
    {
        return Some(model);
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
    anthropic().or_else(|| {
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
