//! Encodes and decodes the values of a state type.

use std::sync::LazyLock;

use erased_serde::Deserializer;
use serde::Serialize;
use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

use super::State;
use super::decoded::{Decoded, Updates};
use crate::error::FormatError;
use crate::state::wire::{LentUpdate, OutputWire, WritesWire};
use langgraph_core::checkpoint::{AnyValue, Encoded, Formats};
use langgraph_topology::FieldInfo;

/// Converts an update of an older version of the state type to the current form.
///
/// It receives the version that wrote the update, and the update as JSON: an object with the
/// written fields. A snapshot of a whole state has the fields that something has written since the thread
/// began; one that an older version of this library has stored has all of them.
///
/// Values that JSON cannot hold are converted: keys of maps become strings, bytes become a list of
/// numbers, NaN becomes `null`.
pub type Migrate = fn(u32, Value) -> Result<Value, Box<dyn std::error::Error + Send + Sync>>;

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
///
/// What is around an update is written and read by code that is compiled once, for all states.
pub struct StateCodec<S: State>(&'static CodecFns<S>);

struct CodecFns<S: State> {
    lend: for<'a> fn(&'a S::Update) -> LentUpdate<'a>,
    give: fn(S::Update) -> LentUpdate<'static>,
    read: for<'de> fn(&mut dyn Deserializer<'de>) -> Result<S::Update, erased_serde::Error>,
    /// Reads the writes of an output from JSON, without the indirection of a format.
    json: Option<ReadWrites<S>>,
}

/// The format of texts.
static TEXTS: LazyLock<Formats> = LazyLock::new(Formats::default);

type ReadWrites<S> = fn(&str) -> serde_json::Result<WritesWire<<S as State>::Update>>;

impl<S: State> StateCodec<S> {
    /// Creates a codec that uses `serde`.
    pub const fn serde() -> Self
    where
        S::Update: Serialize + DeserializeOwned,
    {
        const {
            Self(&CodecFns {
                json: Some(|text| serde_json::from_str(text)),
                ..CodecFns::small()
            })
        }
    }

    /// Creates a codec for updates that take little time to read. Less is compiled.
    pub(crate) const fn small() -> Self
    where
        S::Update: Serialize + DeserializeOwned,
    {
        const { Self(&CodecFns::small()) }
    }

    /// Notes what the values of a field are made of.
    pub(crate) fn shaped(self, field: FieldInfo) -> FieldInfo {
        shaped_by(field, &|from| (self.0.read)(from).is_ok())
    }

    /// Lends an update to a writer.
    pub(crate) fn lend(self, update: &S::Update) -> LentUpdate<'_> {
        (self.0.lend)(update)
    }

    /// Gives an update to a writer.
    pub(crate) fn give(self, update: S::Update) -> LentUpdate<'static> {
        (self.0.give)(update)
    }

    /// Decodes a value of this version of the state, or of an older one.
    pub(crate) fn decode(
        self,
        encoded: &Encoded,
        formats: &Formats,
    ) -> Result<Decoded<S>, FormatError> {
        let version = S::version();
        let migrate = migration(version, encoded, std::any::type_name::<S>())?;
        let mut updates = Updates::new();
        let mut unread = None;
        let wire = OutputWire::decode(encoded, formats, &mut |from| {
            let update = match migrate {
                None => (self.0.read)(from),
                Some(migrate) => {
                    let value = migrated(from, encoded.version, migrate)?;
                    (self.0.read)(&mut <dyn Deserializer<'_>>::erase(value))
                }
            };
            updates.push(update.inspect_err(|error| unread = field_of(&error.to_string()))?);
            Ok(())
        });
        let wire = wire.map_err(|error| match unread {
            // A format that keeps values secret hides the message.
            Some(field) if field_of(&error.to_string()).is_none() => error.at(field),
            _ => error,
        })?;
        Ok(Decoded { wire, updates })
    }

    /// Decodes only the writes, without the targets.
    pub(crate) fn decode_writes(
        self,
        encoded: &Encoded,
        formats: &Formats,
    ) -> Result<WritesWire<S::Update>, FormatError> {
        if let Some(json) = self.0.json
            && encoded.version == S::version().number
            && let Some(text) = formats.json(encoded)
            && let Ok(wire) = json(text)
        {
            return Ok(wire);
        }
        // Also reports errors.
        let Decoded { wire, mut updates } = self.decode(encoded, formats)?;
        Ok(WritesWire {
            writes: updates.writes(wire.writes)?,
            only_written: wire.only_written,
        })
    }

    pub(crate) fn read_text(self, text: &str) -> Result<Decoded<S>, FormatError> {
        // Most outputs are only writes.
        if let Some(json) = self.0.json.filter(|_| !text.contains(r#""jump""#))
            && let Ok(wire) = json(text)
        {
            return Decoded::writes(wire.writes);
        }
        let encoded = Encoded::new("json", S::version().number, text.to_owned());
        self.decode(&encoded, &TEXTS)
    }
}

impl<S: State> CodecFns<S> {
    const fn small() -> Self
    where
        S::Update: Serialize + DeserializeOwned,
    {
        Self {
            lend: |update| LentUpdate::Borrowed(update),
            give: |update| LentUpdate::Owned(Box::new(update)),
            read: |from| erased_serde::deserialize(from),
            json: None,
        }
    }
}

/// Encodes an output of a state of this version.
pub(crate) fn encode(
    wire: &OutputWire<LentUpdate<'_>>,
    formats: &Formats,
    version: u32,
) -> Result<Encoded, FormatError> {
    let encoded = wire.encode(formats, version);
    encoded.map_err(|error| error.within(in_update))
}

/// Writes an output as text.
pub(crate) fn write_text(wire: &OutputWire<LentUpdate<'_>>) -> Result<String, FormatError> {
    let encoded = encode(wire, &TEXTS, 0)?;
    String::from_utf8(encoded.bytes.into()).map_err(FormatError::new)
}

/// Notes what a field is made of, by a function that reads an update with this field alone.
fn shaped_by(field: FieldInfo, read: &dyn Fn(&mut dyn Deserializer<'_>) -> bool) -> FieldInfo {
    field.shaped_by(|from| read(&mut <dyn Deserializer<'_>>::erase(from)))
}

/// Returns what converts an encoded value to the current version, if it is older.
fn migration(
    version: StateVersion,
    encoded: &Encoded,
    state: &str,
) -> Result<Option<Migrate>, FormatError> {
    if encoded.version > version.number {
        return Err(FormatError::new(format!(
            "it was written by version {} of `{state}`, and this is version {}",
            encoded.version, version.number
        )));
    }
    Ok(version.migrate.filter(|_| encoded.version < version.number))
}

fn migrated(
    from: &mut dyn Deserializer<'_>,
    version: u32,
    migrate: Migrate,
) -> Result<Value, erased_serde::Error> {
    let AnyValue(value) = erased_serde::deserialize(from)?;
    migrate(version, value).map_err(Error::custom)
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

/// Returns the field that an error of [`read_fields`](langgraph_core::state::derive::read_fields) names.
fn field_of(error: &str) -> Option<String> {
    let (field, _) = error.strip_prefix("field `")?.split_once('`')?;
    Some(field.to_owned())
}

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
