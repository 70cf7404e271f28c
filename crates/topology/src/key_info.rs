//! The keys by which threads remember what nodes have called.

/// A call of a node that a thread remembers by a key: an interrupt, work that is done once, or a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct KeyInfo {
    /// The key; empty for an interrupt whose key is made at run time. Of an approval, the tool.
    pub key: String,
    /// What it names.
    pub kind: KeyKind,
    /// The text of the type of the answer or the result; empty if it is unknown.
    pub ty: String,
    /// What the JSON of the type is made of, such as `{ approve: bool, note?: Option<String> }`; empty if the
    /// text of the type says it, or if it is unknown. The serialized form does not have it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub shape: String,
}

impl KeyInfo {
    /// Creates a key without a known type.
    pub fn new(key: impl Into<String>, kind: KeyKind) -> Self {
        Self {
            key: key.into(),
            kind,
            ty: String::new(),
            shape: String::new(),
        }
    }

    /// Sets the text of the type.
    #[must_use]
    pub fn typed(mut self, ty: impl Into<String>) -> Self {
        self.ty = ty.into();
        self
    }
}

/// What a key names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum KeyKind {
    /// An interrupt: `cx.interrupt("key", …)`.
    Interrupt,
    /// Work that is done once: `cx.once("key", …)`.
    Once,
    /// A task that a function calls: `write(topic).on(cx)`.
    Task,
    /// A tool whose calls a person approves. The interrupts have the ids of the calls.
    Approval,
}
