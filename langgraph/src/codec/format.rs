//! How values become bytes.

use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use langgraph_strict_serde::Refusal;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Json;

/// Reads a value out of a deserializer, whatever the format.
pub type ReadValue<'a> =
    dyn FnMut(&mut dyn erased_serde::Deserializer<'_>) -> Result<(), erased_serde::Error> + 'a;

/// A way to write values as bytes.
///
/// What one format has written stays readable when another one writes: its [`tag`](Self::tag)
/// stands beside the bytes, and [`Formats`] finds the reader by it.
///
/// # Examples
///
/// A format around another one, as encryption and compression are:
///
/// ```
/// use langgraph::checkpoint::{Format, FormatError, Json, ReadValue};
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
    /// Names the format beside what it has written.
    fn tag(&self) -> &str;

    /// The value as bytes.
    ///
    /// # Errors
    ///
    /// When the format cannot hold the value so that it comes back the same.
    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError>;

    /// Hands `read` a deserializer over the bytes.
    ///
    /// # Errors
    ///
    /// When the bytes are not of this format, or `read` fails.
    fn decode(&self, bytes: &[u8], read: &mut ReadValue<'_>) -> Result<(), FormatError>;
}

/// Why a value cannot be written in a format, or not be read.
#[derive(Debug)]
pub struct FormatError {
    /// Where in the value: `messages[3].score`.
    path: Option<String>,
    /// The same, where names in it may be secret.
    hidden: Option<String>,
    source: Box<dyn Error + Send + Sync>,
}

impl FormatError {
    /// That went wrong.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            path: None,
            hidden: None,
            source: source.into(),
        }
    }

    /// Says where in the value it went wrong.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Says `instead` and nothing of the value, for a format that keeps values secret. Of the place
    /// only the field of the state is told.
    #[must_use]
    pub fn hiding_value(self, instead: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            path: None,
            hidden: self.path.or(self.hidden),
            source: instead.into(),
        }
    }

    /// The error with the place in the update, of which the writer of a state knows, in place of
    /// that in the record.
    pub(crate) fn in_update(mut self) -> Self {
        if let Some(path) = self.path.as_deref().and_then(of_update) {
            self.path = Some(path.to_owned());
        }
        if let Some(path) = self.hidden.as_deref().and_then(of_update) {
            // What is behind the name may be a key of a map.
            let field = path.split(['.', '[']).next();
            self.path = field.map(str::to_owned);
        }
        self
    }

    /// Where in the value it went wrong, if that is known.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}

/// The part of a path that is inside an update.
fn of_update(path: &str) -> Option<&str> {
    let record: &[&str] = if path.starts_with("writes[") {
        &["].update.", "].overwrite.", "].state."]
    } else {
        &[".send_state.state."]
    };
    let ends = record
        .iter()
        .filter_map(|around| Some(path.find(around)? + around.len()));
    path.get(ends.min()?..)
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "field `{path}`: {}", self.source),
            None => self.source.fmt(f),
        }
    }
}

impl Error for FormatError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

impl From<erased_serde::Error> for FormatError {
    fn from(error: erased_serde::Error) -> Self {
        Self::new(error)
    }
}

impl From<Refusal> for FormatError {
    fn from(refusal: Refusal) -> Self {
        let error = Self::new(refusal.reason());
        match refusal.path() {
            Some(path) => error.at(path),
            None => error,
        }
    }
}

impl From<serde_json::Error> for FormatError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error)
    }
}

/// A value as bytes, and how to read them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoded {
    /// The [tag](Format::tag) of the format.
    pub format: Arc<str>,
    /// The version of the state type that wrote it; see `#[state(version = ..)]`.
    pub version: u32,
    /// The bytes, which may be a part of a buffer that others are parts of too.
    pub bytes: Bytes,
}

impl Encoded {
    /// What a saver has stored.
    pub fn new(format: impl Into<Arc<str>>, version: u32, bytes: impl Into<Bytes>) -> Self {
        Self {
            format: format.into(),
            version,
            bytes: bytes.into(),
        }
    }
}

/// The format that a saver writes, and those it reads.
///
/// [`Json`] is always among those that are read.
#[derive(Clone)]
pub struct Formats {
    /// The first one writes.
    all: Arc<[Tagged]>,
}

#[derive(Clone)]
struct Tagged {
    tag: Arc<str>,
    format: Arc<dyn Format>,
    /// True for [`Json`] itself, which can be read without asking it.
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
    /// Writes that format.
    pub fn new(format: impl Format) -> Self {
        let is_json = format.tag() == Json.tag();
        let mut all = vec![Tagged::new(format)];
        if !is_json {
            all.push(Tagged::new(Json));
        }
        Self { all: all.into() }
    }

    /// Reads that format too.
    #[must_use]
    pub fn and_read(self, format: impl Format) -> Self {
        let mut all = self.all.to_vec();
        all.push(Tagged::new(format));
        Self { all: all.into() }
    }

    /// Writes a value.
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

    /// Reads a value, whatever its format was.
    ///
    /// # Errors
    ///
    /// When the format is not among these, and as [`Format::decode`].
    pub fn decode<T: DeserializeOwned>(&self, encoded: &Encoded) -> Result<T, FormatError> {
        self.decode_then(encoded, Ok)
    }

    fn find(&self, tag: &str) -> Option<&Tagged> {
        self.all.iter().find(|known| *known.tag == *tag)
    }

    /// The text of a value that is JSON as [`Json`] writes it: whoever knows the type reads it
    /// without a detour through a format of any kind.
    pub(crate) fn json<'e>(&self, encoded: &'e Encoded) -> Option<&'e str> {
        let json = self.find(&encoded.format)?.json;
        json.then(|| std::str::from_utf8(&encoded.bytes).ok())?
    }

    /// The same with what is made of it, whose errors are the format's: it may keep them secret.
    pub(crate) fn decode_then<T: DeserializeOwned, U>(
        &self,
        encoded: &Encoded,
        then: impl Fn(T) -> Result<U, FormatError>,
    ) -> Result<U, FormatError> {
        let Some(Tagged { format, .. }) = self.find(&encoded.format) else {
            let known = self.all.iter().map(|known| format!("`{}`", known.tag));
            let known: Vec<_> = known.collect();
            return Err(FormatError::new(format!(
                "it was written as `{}`, and only {} can be read; add the format with `.and_read(..)`",
                encoded.format,
                known.join(", ")
            )));
        };
        let mut value = None;
        format.decode(&encoded.bytes, &mut |from| {
            let read = then(erased_serde::deserialize(from)?);
            value = Some(read.map_err(serde::de::Error::custom)?);
            Ok(())
        })?;
        value.ok_or_else(|| FormatError::new(format!("`{}` read nothing", encoded.format)))
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
