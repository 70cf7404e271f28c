//! Which fields of a state something has written.

use super::FieldSet;

/// The fields that an input, a node or an update has written; unknown for threads that older versions
/// have stored.
///
/// Small, since an event has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrittenFields {
    Unknown,
    /// A bit for each of the first 64 fields.
    Few(u64),
    Many(Box<FieldSet>),
}

impl WrittenFields {
    /// Nothing was written.
    pub(crate) const NONE: Self = Self::Few(0);

    /// Returns the fields, if they are known.
    pub(crate) fn fields(&self) -> Option<FieldSet> {
        match self {
            Self::Unknown => None,
            Self::Few(bits) => Some(FieldSet::from_bits(*bits)),
            Self::Many(fields) => Some(FieldSet::clone(fields)),
        }
    }

    /// Adds fields that are written.
    #[inline]
    pub(crate) fn add(&mut self, fields: &FieldSet) {
        match (&mut *self, fields.bits()) {
            (Self::Few(written), Some(bits)) => *written |= bits,
            _ => self.change(|written| written.union_with(fields)),
        }
    }

    /// Removes fields that have their defaults again.
    #[inline]
    pub(crate) fn remove(&mut self, fields: &FieldSet) {
        match (&mut *self, fields.bits()) {
            (Self::Few(written), Some(bits)) => *written &= !bits,
            _ => self.change(|written| written.remove_all(fields)),
        }
    }

    /// Changes the fields, if they are known.
    #[cold]
    fn change(&mut self, change: impl FnOnce(&mut FieldSet)) {
        if let Some(mut fields) = self.fields() {
            change(&mut fields);
            *self = fields.into();
        }
    }
}

impl From<FieldSet> for WrittenFields {
    fn from(fields: FieldSet) -> Self {
        match fields.bits() {
            Some(bits) => Self::Few(bits),
            None => Self::Many(Box::new(fields)),
        }
    }
}
