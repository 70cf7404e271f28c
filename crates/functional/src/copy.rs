//! Copies of arguments, for types that have them.

/// Arguments of a task, which are copied if all of them can be: the compiler takes [`ByClone`] before [`NoCopy`].
#[derive(Debug)]
pub struct Copied<'a, T>(pub &'a T);

/// Arguments that can be copied.
pub trait ByClone<T> {
    /// Returns a copy.
    fn copied(&self) -> Option<T>;
}

impl<T: Clone> ByClone<T> for Copied<'_, T> {
    fn copied(&self) -> Option<T> {
        Some(self.0.clone())
    }
}

/// Arguments that cannot be copied.
pub trait NoCopy<T> {
    /// Returns nothing.
    fn copied(&self) -> Option<T>;
}

impl<T> NoCopy<T> for &Copied<'_, T> {
    fn copied(&self) -> Option<T> {
        None
    }
}
