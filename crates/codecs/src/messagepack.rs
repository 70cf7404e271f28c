//! `MessagePack`.

use langgraph_core::checkpoint::{Format, Limits, ReadValue};
use langgraph_core::error::FormatError;

const LIMITS: Limits = Limits::new("MessagePack")
    .null_is_none()
    .binary()
    .depth(127);

/// `MessagePack` with named fields. It is smaller than JSON and faster to read, and it holds what
/// JSON cannot: NaN and infinities, maps with keys of any kind, integers of 128 bits, raw bytes.
///
/// Fields are written with their names, so a state may change as with JSON. It refuses values that
/// it cannot restore: `Some(None)` and `Some(())`, and more than 127 nested values.
///
/// A `Vec<u8>` is a list of numbers to serde, also in this format. Mark the field with
/// `#[serde(with = "serde_bytes")]`, from the crate of that name, to store raw bytes.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
/// use langgraph::checkpoint::Formats;
/// use langgraph_codecs::MessagePack;
///
/// let formats = Formats::new(MessagePack);
/// let scores = BTreeMap::from([(7_u32, f64::INFINITY)]);
/// let stored = formats.encode(&scores, 0).unwrap();
/// assert_eq!(formats.decode::<BTreeMap<u32, f64>>(&stored).unwrap(), scores);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MessagePack;

impl Format for MessagePack {
    fn tag(&self) -> &'static str {
        "messagepack"
    }

    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError> {
        LIMITS.check(value)?;
        rmp_serde::to_vec_named(value).map_err(FormatError::new)
    }

    fn decode(&self, bytes: &[u8], read: &mut ReadValue<'_>) -> Result<(), FormatError> {
        let mut rest = bytes;
        let mut from = rmp_serde::Deserializer::new(&mut rest);
        read(&mut <dyn erased_serde::Deserializer<'_>>::erase(&mut from))?;
        if rest.is_empty() {
            Ok(())
        } else {
            Err(FormatError::new(format!(
                "{} bytes follow the value, which is all there should be",
                rest.len()
            )))
        }
    }
}
