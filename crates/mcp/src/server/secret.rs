//! The state of a paused call, signed for the client.

/// The key that signs the thread of a paused call, so that a client cannot name another one.
#[derive(Clone)]
pub(super) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn random() -> Self {
        let mut key = [0; 32];
        let (first, second) = key.split_at_mut(16);
        first.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        second.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        Self(key)
    }

    pub(super) fn of(key: &[u8]) -> Self {
        Self(hmac_sha256::Hash::hash(key))
    }

    /// Returns the state of a paused call for the client.
    pub(super) fn seal(&self, tool: &str, thread: &str) -> String {
        format!("{}.{thread}", self.signature(tool, thread))
    }

    /// Returns the thread of a resumed call, if it was sealed for this tool.
    pub(super) fn open<'a>(&self, tool: &str, state: &'a str) -> Option<&'a str> {
        let (signature, thread) = state.split_once('.')?;
        let own = self.signature(tool, thread);
        // In constant time: the time must not show how much of it is right.
        let differs = own.bytes().zip(signature.bytes());
        let differs = differs.fold(0, |all, (a, b)| all | (a ^ b));
        (differs == 0 && own.len() == signature.len()).then_some(thread)
    }

    fn signature(&self, tool: &str, thread: &str) -> String {
        use std::fmt::Write as _;

        let text = format!("{}:{tool}{thread}", tool.len());
        let mut hex = String::with_capacity(64);
        for byte in hmac_sha256::HMAC::mac(text, self.0) {
            let _ = write!(hex, "{byte:02x}"); // writing to a String never fails
        }
        hex
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sealed_for_this_tool_opens() {
        let secret = Secret::of(b"one");
        let state = secret.seal("desk", "a.b");
        assert_eq!(secret.open("desk", &state), Some("a.b"));
        assert_eq!(secret.open("des", &state), None);
        assert_eq!(Secret::of(b"two").open("desk", &state), None);
        assert_eq!(secret.open("desk", &state.replace("a.b", "a.c")), None);
        assert_eq!(secret.open("desk", ".a.b"), None);
        assert_eq!(secret.open("desk", "nonsense"), None);
        assert_eq!(
            Secret::random().open("desk", &Secret::random().seal("desk", "t")),
            None
        );
    }
}
