//! Which fields of a state something has written.

use super::FieldSet;

/// The fields that an input, a node or an update has written; unknown for threads that older versions
/// have stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenFields(Option<FieldSet>);

impl WrittenFields {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Self = Self(None);

    /// Nothing was written.
    pub(crate) const NONE: Self = Self(Some(FieldSet::new()));

    /// Returns the fields, if they are known.
    pub(crate) const fn fields(&self) -> Option<&FieldSet> {
        self.0.as_ref()
    }

    /// Adds fields that are written.
    #[inline]
    pub(crate) fn add(&mut self, fields: &FieldSet) {
        if let Some(written) = &mut self.0 {
            written.union_with(fields);
        }
    }

    /// Removes fields that have their defaults again.
    #[inline]
    pub(crate) fn remove(&mut self, fields: &FieldSet) {
        if let Some(written) = &mut self.0 {
            written.remove_all(fields);
        }
    }
}

impl From<FieldSet> for WrittenFields {
    fn from(fields: FieldSet) -> Self {
        Self(Some(fields))
    }
}
