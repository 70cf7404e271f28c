//! What a model may do with a file.

/// What a model may do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// It reads and writes the file.
    Write,
    /// It reads the file, and a person decides about each write.
    Ask,
    /// It reads the file.
    Read,
    /// It does not see the file.
    Deny,
}
