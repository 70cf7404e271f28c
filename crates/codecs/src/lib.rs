//! Storage formats for the threads of `langgraph`: `MessagePack`, compression, encryption.
//!
//! A saver of bytes takes [`Formats`](langgraph_core::checkpoint::Formats): one format that it writes,
//! and more that it can read. Formats wrap each other, and the tag beside each value lists them:
//! `aead+zstd+messagepack`.
//!
//! ```
//! use langgraph::checkpoint::{Format, Formats, Json};
//! # #[cfg(all(feature = "encryption", feature = "messagepack", feature = "zstd"))] {
//! use langgraph_codecs::{Encrypted, Key, MessagePack, Zstd};
//!
//! # let secret = [7; 32];
//! // Compressed first: what is encrypted has no patterns left.
//! let format = Encrypted::new(Zstd::new(MessagePack), Key::new("2026-11", &secret));
//! assert_eq!(format.tag(), "aead+zstd+messagepack");
//!
//! // Only what is authenticated is read. While threads are left that were written before as plain or
//! // compressed JSON, say so.
//! let formats = Formats::new(format).and_read(Json).and_read(Zstd::new(Json));
//! let stored = formats.encode(&"hello", 0).unwrap();
//! assert_eq!(formats.decode::<String>(&stored).unwrap(), "hello");
//! # }
//! ```
//!
//! | | holds NaN and keys of any kind | size | readable with other tools |
//! |---|---|---|---|
//! | [`Json`](langgraph_core::checkpoint::Json) | no | 1 | any |
//! | [`MessagePack`] | yes | about 0.8; binary data a quarter | many |
//! | [`Zstd`] around either | as inside | text about a fifth, from some hundred bytes on | `zstd -d`, then as inside |
//! | [`Encrypted`] around any | as inside | 42 bytes more, and the id of the key | no |
//!
//! A format encodes the values of a graph: states, updates, arguments of sends. Everything else is
//! stored as plain JSON: names of nodes, interrupts and answers, texts of errors, and the metadata
//! of a run.
//!
//! # Features
//!
//! - `encryption` (on by default): XChaCha20-Poly1305.
//! - `messagepack` (on by default): values as `MessagePack`.
//! - `zstd` (on by default): compression. It needs a C compiler.

#[cfg(feature = "encryption")]
mod encrypted;
#[cfg(feature = "messagepack")]
mod messagepack;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(feature = "encryption")]
pub use encrypted::{Encrypted, Key};
#[cfg(feature = "messagepack")]
pub use messagepack::MessagePack;
#[cfg(feature = "zstd")]
pub use zstd::Zstd;
