//! Which model the examples run on.

use crate::offline_model::OfflineModel;
use langgraph::agent::ChatModel;
use std::fmt;
use std::sync::Arc;

/// The environment variables that ask for a real model.
const KEYS: &[&str] = &["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST"];

/// A model, and what to tell the user about it.
pub struct Chosen {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// What it is.
    pub name: String,
}

/// The model that the environment asks for; the rule-based one unless it does.
pub fn choose() -> Chosen {
    let key = KEYS
        .iter()
        .find(|key| std::env::var(key).is_ok_and(|value| !value.is_empty()));
    offline(key.copied())
}

/// The rule-based model; `key` is the variable that asked for another one.
fn offline(key: Option<&str>) -> Chosen {
    let built_in = "the built-in rule-based model, which needs no key and no network";
    let name = match key {
        None => built_in.to_owned(),
        Some(key) => format!(
            "{built_in} ({key} is set, but this program was built without real models: \
             run it with `--features models`)"
        ),
    };
    Chosen {
        model: Arc::new(OfflineModel),
        name,
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chosen")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
