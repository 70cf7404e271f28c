//! Compression.

use langgraph::checkpoint::{Format, FormatError, ReadValue};
use zstd::bulk::Compressor;

/// The first bytes of every frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Shorter values do not get smaller.
const WORTH_TRYING: usize = 64;

/// Compresses the output of another format by Zstandard, with a checksum.
///
/// A value that would not become smaller is stored as it is, so the small updates of most
/// supersteps cost nothing.
///
/// # Examples
///
/// ```
/// use langgraph::checkpoint::{Formats, Json};
/// use langgraph_codecs::Zstd;
///
/// let formats = Formats::new(Zstd::new(Json).level(9));
/// let text = "the quick brown fox ".repeat(100);
/// let stored = formats.encode(&text, 0).unwrap();
/// assert_eq!(&*stored.format, "zstd+json");
/// assert!(stored.bytes.len() < 100);
/// assert_eq!(formats.decode::<String>(&stored).unwrap(), text);
/// ```
#[derive(Clone, Debug)]
pub struct Zstd<F> {
    format: F,
    tag: String,
    level: i32,
}

impl<F: Format> Zstd<F> {
    /// Compresses the output of `format`, at level 3.
    pub fn new(format: F) -> Self {
        Self {
            tag: format!("zstd+{}", format.tag()),
            format,
            level: zstd::DEFAULT_COMPRESSION_LEVEL,
        }
    }

    /// Sets the level from 1, the fastest, to 22, the smallest; below 1 it is even faster. Levels
    /// out of range are clamped. The level does not change the time to read.
    #[must_use]
    pub fn level(mut self, level: i32) -> Self {
        let known = zstd::compression_level_range();
        self.level = level.clamp(*known.start(), *known.end());
        self
    }
}

impl<F: Format> Format for Zstd<F> {
    fn tag(&self) -> &str {
        &self.tag
    }

    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError> {
        let bytes = self.format.encode(value)?;
        // A value that looks like a frame must be compressed, to tell the two apart.
        let looks_so = bytes.starts_with(&MAGIC);
        if bytes.len() < WORTH_TRYING && !looks_so {
            return Ok(bytes);
        }
        let mut compressor = Compressor::new(self.level).map_err(FormatError::new)?;
        compressor
            .include_checksum(true)
            .map_err(FormatError::new)?;
        let frame = compressor.compress(&bytes).map_err(FormatError::new)?;
        Ok(if frame.len() < bytes.len() || looks_so {
            frame
        } else {
            bytes
        })
    }

    fn decode(&self, bytes: &[u8], read: &mut ReadValue<'_>) -> Result<(), FormatError> {
        if !bytes.starts_with(&MAGIC) {
            return self.format.decode(bytes, read);
        }
        let bytes = zstd::decode_all(bytes)
            .map_err(|error| FormatError::new(format!("what is compressed is damaged: {error}")))?;
        self.format.decode(&bytes, read)
    }
}
