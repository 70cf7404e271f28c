//! The question about an unknown outcome.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use langgraph::interrupt::Interrupt;

/// The interrupt of an [`Effect`](crate::Effect) of unknown outcome: the payload of the
/// [`Interrupt`]. The answer is an [`EffectDecision`](crate::EffectDecision).
///
/// # Wire form
///
/// `{"type": "effect_unknown", "effect", "arguments", "idempotency_key", "began_at"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "effect_unknown")]
#[non_exhaustive]
pub struct EffectRequest {
    /// The name of the effect.
    pub effect: String,
    /// What it works on.
    pub arguments: Value,
    /// The key by which the service outside knows the work.
    pub idempotency_key: String,
    /// When the work began, in milliseconds since 1970.
    pub began_at: u64,
}

impl EffectRequest {
    /// Reads the request from an interrupt, if the interrupt is one.
    pub fn of(interrupt: &Interrupt) -> Option<Self> {
        if interrupt.payload.get("type")? != "effect_unknown" {
            return None;
        }
        Self::deserialize(&interrupt.payload).ok()
    }
}
