//! JSON.

use super::{Format, FormatError, ReadValue};

/// JSON: readable with any tool. Refuses what JSON cannot give back: numbers that are not finite,
/// and maps whose keys are not strings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl Format for Json {
    fn tag(&self) -> &'static str {
        "json"
    }

    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError> {
        Ok(serde_json::to_vec(value)?)
    }

    fn decode(&self, bytes: &[u8], read: &mut ReadValue<'_>) -> Result<(), FormatError> {
        let mut from = serde_json::Deserializer::from_slice(bytes);
        read(&mut <dyn erased_serde::Deserializer<'_>>::erase(&mut from))?;
        Ok(from.end()?)
    }
}
