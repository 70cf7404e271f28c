//! Encodes and decodes the values of a state type.

use std::borrow::Cow;
use std::error::Error;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::State;
use langgraph_checkpoint::{
    AnyValue, Encoded, FormatError, Formats, OutputWire, WriteWire, WritesWire,
};

/// Converts an update of an older version of the state type to the current form.
///
/// It receives the version that wrote the update, and the update as JSON: an object with the
/// written fields. A snapshot of a whole state has every field.
///
/// Values that JSON cannot hold are converted: keys of maps become strings, bytes become a list of
/// numbers, NaN becomes `null`.
pub type Migrate = fn(u32, Value) -> Result<Value, Box<dyn Error + Send + Sync>>;

/// The version of a state type, and how to read values of older versions.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct StateVersion {
    /// The number; 0 unless set.
    pub number: u32,
    /// Converts older versions. Without it, old values are read as they are: unknown fields are
    /// skipped, missing ones keep their defaults.
    pub migrate: Option<Migrate>,
}

impl StateVersion {
    /// Creates version `number`.
    pub const fn new(number: u32) -> Self {
        Self {
            number,
            migrate: None,
        }
    }

    /// Sets the function that converts values of older versions.
    #[must_use]
    pub const fn migrated_by(mut self, migrate: Migrate) -> Self {
        self.migrate = Some(migrate);
        self
    }
}

/// Encodes and decodes updates of `S`.
///
/// The derive makes one if the fields can be serialized. A hand-written state returns
/// [`StateCodec::serde`] from [`State::codec`].
pub struct StateCodec<S: State> {
    write: for<'a> fn(&Lent<'a, S>, &Formats, u32) -> Result<Encoded, FormatError>,
    read: fn(&Encoded, &Formats) -> Result<Read<S>, FormatError>,
    update: fn(Value) -> Result<S::Update, serde_json::Error>,
    writes: fn(&str) -> Result<WritesWire<S::Update>, serde_json::Error>,
}

/// A record to write; it borrows the updates if possible.
type Lent<'a, S> = OutputWire<Cow<'a, <S as State>::Update>>;

/// A decoded record.
type Read<S> = OutputWire<<S as State>::Update>;

impl<S: State> StateCodec<S> {
    /// Creates a codec that uses `serde`.
    pub const fn serde() -> Self
    where
        S::Update: Serialize + DeserializeOwned,
    {
        Self {
            write: |wire, formats, version| formats.encode(wire, version),
            read: |encoded, formats| formats.decode(encoded),
            update: |value| serde_json::from_value(value),
            writes: |text| serde_json::from_str(text),
        }
    }

    pub(crate) fn encode(
        &self,
        wire: &OutputWire<Cow<'_, S::Update>>,
        formats: &Formats,
    ) -> Result<Encoded, FormatError> {
        let encoded = (self.write)(wire, formats, S::version().number);
        encoded.map_err(|error| error.within(in_update))
    }

    /// Decodes a value of this version of the state, or of an older one.
    pub(crate) fn decode(
        &self,
        encoded: &Encoded,
        formats: &Formats,
    ) -> Result<OutputWire<S::Update>, FormatError> {
        let version = S::version();
        match version.migrate {
            _ if encoded.version > version.number => Err(FormatError::new(format!(
                "it was written by version {} of `{}`, and this is version {}",
                encoded.version,
                std::any::type_name::<S>(),
                version.number
            ))),
            Some(migrate) if encoded.version < version.number => {
                formats.decode_then(encoded, |wire: OutputWire<AnyValue>| {
                    wire.try_map(&mut |AnyValue(value)| {
                        let value = migrate(encoded.version, value).map_err(FormatError::new)?;
                        (self.update)(value).map_err(FormatError::from)
                    })
                })
            }
            _ => (self.read)(encoded, formats),
        }
    }

    /// Decodes only the writes, without the targets.
    pub(crate) fn decode_writes(
        &self,
        encoded: &Encoded,
        formats: &Formats,
    ) -> Result<Vec<WriteWire<S::Update>>, FormatError> {
        if encoded.version == S::version().number
            && let Some(text) = formats.json(encoded)
            && let Ok(wire) = (self.writes)(text)
        {
            return Ok(wire.writes);
        }
        // Also reports errors.
        Ok(self.decode(encoded, formats)?.writes)
    }

    pub(crate) fn write_text(
        &self,
        wire: &OutputWire<Cow<'_, S::Update>>,
    ) -> Result<String, FormatError> {
        let encoded = self.encode(wire, &Formats::default())?;
        String::from_utf8(encoded.bytes.into()).map_err(FormatError::new)
    }

    pub(crate) fn read_text(&self, text: &str) -> Result<OutputWire<S::Update>, FormatError> {
        let encoded = Encoded::new("json", 0, text.to_owned());
        (self.read)(&encoded, &Formats::default())
    }
}

// A derive would require the same traits of the state.
#[allow(clippy::expl_impl_clone_on_copy)]
impl<S: State> Clone for StateCodec<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: State> Copy for StateCodec<S> {}

impl_debug!([S: State] StateCodec<S>, |_codec| "StateCodec<{}>", std::any::type_name::<S>());

/// Returns the part of a path that is inside an update.
fn in_update(path: &str) -> Option<&str> {
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
