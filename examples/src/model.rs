//! The model of the examples.

use crate::offline_model::OfflineModel;
use langgraph_agent::{ChatModel, ModelError};
use std::fmt;
use std::sync::Arc;

/// The environment variables that select a real model.
const ASKING: &[&str] = &[
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "OLLAMA_HOST",
];

/// A model, and its name for the user.
pub struct Chosen {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// Its name.
    pub name: String,
}

/// Returns the model that the environment selects; the default is the rule-based one.
///
/// # Errors
///
/// If the selected model cannot be set up, for example because its address is invalid.
pub fn choose() -> Result<Chosen, ModelError> {
    let asking = ASKING
        .iter()
        .find(|name| std::env::var(name).is_ok_and(|value| !value.trim().is_empty()));
    match asking {
        None => Ok(offline("")),
        Some(variable) => asked(variable),
    }
}

/// Returns the model `name` if the environment variable `key` holds its key; otherwise the
/// rule-based one.
///
/// # Errors
///
/// If the model cannot be set up.
pub fn named(name: &str, key: &str) -> Result<Chosen, ModelError> {
    match std::env::var(key) {
        Ok(secret) if !secret.trim().is_empty() => keyed(name, key, secret),
        _ => Ok(offline("")),
    }
}

#[cfg(feature = "models")]
fn keyed(name: &str, key: &str, secret: String) -> Result<Chosen, ModelError> {
    let model = langgraph_genai::Model::named(name)
        .api_key(secret)
        .build()?;
    Ok(Chosen {
        model: Arc::new(model),
        name: format!("{name}, because {key} is set"),
    })
}

#[cfg(not(feature = "models"))]
fn keyed(_: &str, key: &str, _: String) -> Result<Chosen, ModelError> {
    asked(key)
}

#[cfg(feature = "models")]
fn asked(variable: &str) -> Result<Chosen, ModelError> {
    let Some(model) = langgraph_genai::from_env()? else {
        return Ok(offline(""));
    };
    let name = match std::env::var("MODEL") {
        Ok(name) if !name.trim().is_empty() => name,
        _ => "the provider's usual one".to_owned(),
    };
    Ok(Chosen {
        model,
        name: format!("{name}, because {variable} is set"),
    })
}

#[cfg(not(feature = "models"))]
#[allow(
    clippy::unnecessary_wraps,
    reason = "with the feature `models` it can fail"
)]
fn asked(variable: &str) -> Result<Chosen, ModelError> {
    Ok(offline(&format!(
        " ({variable} is set, but this program was built without real models: \
         run it with `--features models`)"
    )))
}

fn offline(remark: &str) -> Chosen {
    Chosen {
        model: Arc::new(OfflineModel),
        name: format!("the built-in rule-based model, which needs no key and no network{remark}"),
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chosen")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
