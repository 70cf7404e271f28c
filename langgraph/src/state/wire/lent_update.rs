//! An update that is lent to a writer.

use std::fmt;

use serde::{Serialize, Serializer};

/// An update of any type, to be written.
pub(crate) enum LentUpdate<'a> {
    /// It stays where it is.
    Borrowed(&'a dyn erased_serde::Serialize),
    /// It was created to be written.
    Owned(Box<dyn erased_serde::Serialize + 'a>),
}

impl Serialize for LentUpdate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let update = match self {
            Self::Borrowed(update) => *update,
            Self::Owned(update) => &**update,
        };
        erased_serde::serialize(update, serializer)
    }
}

impl fmt::Debug for LentUpdate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LentUpdate")
    }
}
