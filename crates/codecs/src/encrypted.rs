//! Encryption.

use std::fmt;

use chacha20poly1305::aead::{Aead, Generate, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use langgraph_core::checkpoint::{Format, ReadValue};
use langgraph_core::error::FormatError;

/// The version of the byte layout: this byte, the length of the key's id, the id, the nonce, and
/// the ciphertext.
const LAYOUT: u8 = 1;
const NONCE: usize = 24;

/// A secret of 32 bytes with a name.
///
/// The name is stored beside the ciphertext, to find the key again. It is not secret; use a date or
/// a number. The secret must be random: derive it from a password with a crate made for that, never
/// by a plain hash.
#[derive(Clone)]
pub struct Key {
    id: String,
    cipher: XChaCha20Poly1305,
}

impl Key {
    /// Creates the key `id`, of at most 255 bytes.
    pub fn new(id: impl Into<String>, secret: &[u8; 32]) -> Self {
        Self {
            id: id.into(),
            cipher: XChaCha20Poly1305::new(secret.into()),
        }
    }

    /// Returns its name.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Encrypts and authenticates the output of another format with XChaCha20-Poly1305.
///
/// Each value has a random nonce of 192 bits, so any number of values and programs may share a key.
/// A value that was changed in storage is refused, and so is one in another format: `Formats::new` with
/// this format reads no plain text. Add `.and_read(Json)` for threads that were stored before they were
/// encrypted, until these are gone. Errors never hold plaintext: if a value cannot
/// be written, they name the field of the state; if it does not fit its type, they name the key.
///
/// Compress inside, not outside: `Encrypted::new(Zstd::new(Json), key)`.
///
/// Its limits: a value is not bound to its place, so anyone with write access to the storage may
/// replace a value with an older one; and the lengths of values are visible.
///
/// # Examples
///
/// A new key writes, and the old one still reads. Remove the old key when no value of it is left,
/// because threads were pruned or deleted.
///
/// ```
/// use langgraph::checkpoint::{Formats, Json};
/// use langgraph_codecs::{Encrypted, Key};
///
/// # let (secret, new_secret) = ([1; 32], [2; 32]);
/// let old = Key::new("2025", &secret);
/// let before = Formats::new(Encrypted::new(Json, old.clone()));
/// let stored = before.encode(&"hello", 0).unwrap();
///
/// let now = Encrypted::new(Json, Key::new("2026", &new_secret)).and_read(old);
/// let now = Formats::new(now);
/// assert_eq!(now.decode::<String>(&stored).unwrap(), "hello");
/// ```
#[derive(Clone, Debug)]
pub struct Encrypted<F> {
    format: F,
    tag: String,
    /// The key that encrypts.
    key: Key,
    /// Keys that only decrypt.
    older: Vec<Key>,
}

impl<F: Format> Encrypted<F> {
    /// Encrypts the output of `format` with `key`.
    pub fn new(format: F, key: Key) -> Self {
        Self {
            tag: format!("aead+{}", format.tag()),
            format,
            key,
            older: Vec::new(),
        }
    }

    /// Adds an older key, for reading only.
    #[must_use]
    pub fn and_read(mut self, key: Key) -> Self {
        self.older.push(key);
        self
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.key).chain(&self.older)
    }

    /// Returns the associated data, which binds the value to this format and this key.
    fn about(&self, head: &[u8]) -> Vec<u8> {
        [self.tag.as_bytes(), head].concat()
    }
}

impl<F: Format> Format for Encrypted<F> {
    fn tag(&self) -> &str {
        &self.tag
    }

    fn authenticates(&self) -> bool {
        true
    }

    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError> {
        let plain = self.format.encode(value).map_err(|error| {
            error.hiding_value(format!(
                "it cannot be stored as {}; the reason is hidden, because the value is to be encrypted: try it with `{0}` alone",
                self.format.tag()
            ))
        })?;
        let id = self.key.id.as_bytes();
        let length = u8::try_from(id.len()).map_err(|_| {
            FormatError::new(format!(
                "the id of an encryption key has {} bytes, and at most 255 are allowed",
                id.len()
            ))
        })?;
        let mut bytes = vec![LAYOUT, length];
        bytes.extend(id);
        let nonce = XNonce::try_generate().map_err(|error| {
            FormatError::new(format!("there is no randomness to encrypt with: {error}"))
        })?;
        let payload = Payload {
            msg: &plain,
            aad: &self.about(&bytes),
        };
        let encrypted = self.key.cipher.encrypt(&nonce, payload);
        let encrypted =
            encrypted.map_err(|_| FormatError::new("the value is too long to be encrypted"))?;
        bytes.extend(&nonce);
        bytes.extend(encrypted);
        Ok(bytes)
    }

    fn decode(&self, bytes: &[u8], read: &mut ReadValue<'_>) -> Result<(), FormatError> {
        let Parts {
            head,
            id,
            nonce,
            encrypted,
        } = Parts::of(bytes).ok_or_else(|| {
            FormatError::new("what is encrypted is damaged: it does not begin as it should")
        })?;
        let mut known = self.keys().filter(|key| key.id.as_bytes() == id).peekable();
        let name = String::from_utf8_lossy(id);
        if known.peek().is_none() {
            let keys: Vec<_> = self.keys().map(|key| format!("`{}`", key.id)).collect();
            return Err(FormatError::new(format!(
                "it was encrypted with key `{name}`, and only {} can be read; add the key with `.and_read(..)`",
                keys.join(", ")
            )));
        }
        let aad = self.about(head);
        let payload = || Payload {
            msg: encrypted,
            aad: &aad,
        };
        let plain = known.find_map(|key| key.cipher.decrypt(&nonce, payload()).ok());
        let plain = plain.ok_or_else(|| {
            FormatError::new(format!(
                "it cannot be decrypted: key `{name}` has another secret than when it was written, or the bytes were changed since"
            ))
        })?;
        self.format.decode(&plain, read).map_err(|error| {
            error.hiding_value(format!(
                "what was encrypted with key `{name}` is not of the type that is read; the difference is hidden, because the value is secret"
            ))
        })
    }
}

struct Parts<'a> {
    /// All bytes before the nonce.
    head: &'a [u8],
    id: &'a [u8],
    nonce: XNonce,
    encrypted: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let (&[LAYOUT, length], _) = bytes.split_first_chunk::<2>()? else {
            return None;
        };
        let (head, rest) = bytes.split_at_checked(2 + usize::from(length))?;
        let (nonce, encrypted) = rest.split_first_chunk::<NONCE>()?;
        Some(Self {
            head,
            id: head.get(2..)?,
            nonce: (*nonce).into(),
            encrypted,
        })
    }
}
