//! Compression.

use std::io::Read;

use langgraph_core::checkpoint::{Format, ReadValue};
use langgraph_core::error::FormatError;
use zstd::bulk::Compressor;
use zstd::stream::read::Decoder;

/// The largest size of a value, unless set.
const LIMIT: usize = 256 * 1024 * 1024;

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
    limit: usize,
}

impl<F: Format> Zstd<F> {
    /// Compresses the output of `format`, at level 3.
    pub fn new(format: F) -> Self {
        Self {
            tag: format!("zstd+{}", format.tag()),
            format,
            level: zstd::DEFAULT_COMPRESSION_LEVEL,
            limit: LIMIT,
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

    /// Sets the largest size of a value in bytes, before it is compressed; 256 MiB unless set. A
    /// larger one is neither written nor read: a damaged or a forged frame could fill the memory.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    fn too_large(&self) -> FormatError {
        let limit = self.limit;
        FormatError::new(format!(
            "it has more than {limit} bytes; raise the limit with `Zstd::limit`"
        ))
    }
}

impl<F: Format> Format for Zstd<F> {
    fn tag(&self) -> &str {
        &self.tag
    }

    fn authenticates(&self) -> bool {
        self.format.authenticates()
    }

    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError> {
        let bytes = self.format.encode(value)?;
        if bytes.len() > self.limit {
            return Err(self.too_large());
        }
        // A value that looks like a frame must be compressed, so that the two differ.
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
        let damaged = |error| FormatError::new(format!("what is compressed is damaged: {error}"));
        let decoder = Decoder::with_buffer(bytes).map_err(damaged)?;
        let mut unfolded = Vec::new();
        // One byte more, to know that there is more.
        let most = u64::try_from(self.limit)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        decoder
            .take(most)
            .read_to_end(&mut unfolded)
            .map_err(damaged)?;
        if unfolded.len() > self.limit {
            return Err(self.too_large());
        }
        self.format.decode(&unfolded, read)
    }
}
