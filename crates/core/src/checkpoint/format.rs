//! Formats: how values are encoded as bytes.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Json;
use crate::error::FormatError;

/// Reads a value from a deserializer of any format.
pub type ReadValue<'a> =
    dyn FnMut(&mut dyn erased_serde::Deserializer<'_>) -> Result<(), erased_serde::Error> + 'a;

/// Encodes values as bytes.
///
/// A value stays readable after the format changes: its [`tag`](Self::tag) stands beside the bytes,
/// and [`Formats`] finds the reader by it.
///
/// # Examples
///
/// A format that wraps another one, as encryption and compression do:
///
/// ```
/// use langgraph::checkpoint::{Format, Json, ReadValue};
/// use langgraph::error::FormatError;
///
/// struct Reversed;
///
/// impl Format for Reversed {
///     fn tag(&self) -> &str {
///         "reversed+json"
///     }
///     fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError> {
///         let mut bytes = Json.encode(value)?;
///         bytes.reverse();
///         Ok(bytes)
///     }
///     fn decode(&self, bytes: &[u8], read: &mut ReadValue<'_>) -> Result<(), FormatError> {
///         let bytes: Vec<u8> = bytes.iter().rev().copied().collect();
///         Json.decode(&bytes, read)
///     }
/// }
///
/// let bytes = Reversed.encode(&"abc").unwrap();
/// assert_eq!(bytes, b"\"cba\"");
/// ```
pub trait Format: Send + Sync + 'static {
    /// Returns the name of the format, which is stored beside the bytes.
    fn tag(&self) -> &str;

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// If the format cannot restore the value unchanged.
    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError>;

    /// Passes a deserializer over the bytes to `read`.
    ///
    /// # Errors
    ///
    /// If the bytes are not in this format, or `read` fails.
    fn decode(&self, bytes: &[u8], read: &mut ReadValue<'_>) -> Result<(), FormatError>;

    /// Returns true if values that others have written are refused. Then [`Formats::new`] reads no
    /// other format: a value in plain JSON could have been put in place of an authenticated one. A
    /// format that wraps another one answers as that does.
    fn authenticates(&self) -> bool {
        false
    }
}

/// An encoded value, and how to decode it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoded {
    /// The [tag](Format::tag) of the format.
    pub format: Arc<str>,
    /// The version of the state type that encoded it; see `#[state(version = ..)]`.
    pub version: u32,
    /// The bytes, which may share a buffer with other values.
    pub bytes: Bytes,
}

impl Encoded {
    /// Creates a value from what a saver has stored.
    pub fn new(format: impl Into<Arc<str>>, version: u32, bytes: impl Into<Bytes>) -> Self {
        Self {
            format: format.into(),
            version,
            bytes: bytes.into(),
        }
    }
}

/// The format that a saver writes, and the formats that it reads.
///
/// [`Json`] can be read beside any format that does not [authenticate](Format::authenticates) values.
#[derive(Clone)]
pub struct Formats {
    /// The first one writes.
    all: Arc<[Tagged]>,
}

#[derive(Clone)]
struct Tagged {
    tag: Arc<str>,
    format: Arc<dyn Format>,
    /// True for [`Json`] itself, which can be read directly.
    json: bool,
}

impl Tagged {
    fn new<F: Format>(format: F) -> Self {
        Self {
            tag: format.tag().into(),
            json: TypeId::of::<F>() == TypeId::of::<Json>(),
            format: Arc::new(format),
        }
    }
}

impl Formats {
    /// Writes and reads this format, and reads [`Json`] unless the format authenticates values: threads
    /// that were stored before they were encrypted are read with `.and_read(Json)`, which admits plain
    /// text from whoever can write to the storage. Leave it out once these threads were written anew.
    pub fn new(format: impl Format) -> Self {
        let only = format.tag() == Json.tag() || format.authenticates();
        let mut all = vec![Tagged::new(format)];
        if !only {
            all.push(Tagged::new(Json));
        }
        Self { all: all.into() }
    }

    /// Also reads this format.
    #[must_use]
    pub fn and_read(self, format: impl Format) -> Self {
        let mut all = self.all.to_vec();
        all.push(Tagged::new(format));
        Self { all: all.into() }
    }

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// As [`Format::encode`].
    pub fn encode(&self, value: &impl Serialize, version: u32) -> Result<Encoded, FormatError> {
        let Some(Tagged { tag, format, .. }) = self.all.first() else {
            return Err(FormatError::new("there is no format to write"));
        };
        Ok(Encoded {
            format: Arc::clone(tag),
            version,
            bytes: format.encode(value)?.into(),
        })
    }

    /// Decodes a value of any of these formats.
    ///
    /// # Errors
    ///
    /// If the format is not among these, and as [`Format::decode`].
    pub fn decode<T: DeserializeOwned>(&self, encoded: &Encoded) -> Result<T, FormatError> {
        let mut value = None;
        self.read(encoded, &mut |from| {
            value = Some(erased_serde::deserialize(from)?);
            Ok(())
        })?;
        value.ok_or_else(|| FormatError::new(format!("`{}` read nothing", encoded.format)))
    }

    /// Passes a deserializer over the value to `read`. Errors of `read` go to the format, which may
    /// hide them.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode), and those of `read`.
    pub fn read(&self, encoded: &Encoded, read: &mut ReadValue<'_>) -> Result<(), FormatError> {
        let Some(Tagged { format, .. }) = self.find(&encoded.format) else {
            let known = self.all.iter().map(|known| format!("`{}`", known.tag));
            let known: Vec<_> = known.collect();
            return Err(FormatError::new(format!(
                "it was written as `{}`, and only {} can be read; add the format with `.and_read(..)`",
                encoded.format,
                known.join(", ")
            )));
        };
        format.decode(&encoded.bytes, read)
    }

    fn find(&self, tag: &str) -> Option<&Tagged> {
        self.all.iter().find(|known| *known.tag == *tag)
    }

    /// Returns the text of a value that [`Json`] wrote. A reader that knows the type parses it
    /// directly, without the indirection of a format.
    pub fn json<'e>(&self, encoded: &'e Encoded) -> Option<&'e str> {
        let json = self.find(&encoded.format)?.json;
        json.then(|| std::str::from_utf8(&encoded.bytes).ok())?
    }
}

impl Default for Formats {
    fn default() -> Self {
        Self::new(Json)
    }
}

impl fmt::Debug for Formats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.all.iter().map(|known| &known.tag))
            .finish()
    }
}
