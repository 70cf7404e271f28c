//! How an update clones its fields.

/// A field of an update, to be cloned.
///
/// A type without `Clone` is reported by the `derive(Clone)` of the state. So that the derive of its
/// update does not report it too, the call then finds [`NotClone`], which fails only if the whole
/// program is built: where `Clone` of the state is written by hand.
#[derive(Debug)]
pub struct CloneField<'a, T>(pub &'a T);

impl<T: Clone> CloneField<'_, T> {
    /// Clones the field.
    pub fn cloned(&self) -> T {
        self.0.clone()
    }
}

/// A field that cannot be cloned.
pub trait NotClone<T> {
    /// Does not compile.
    fn cloned(&self) -> T;
}

impl<T> NotClone<T> for CloneField<'_, T> {
    #[allow(clippy::panic)] // at compile time
    fn cloned(&self) -> T {
        const { panic!("an update of a state is cloned: its fields need `Clone`") }
    }
}
