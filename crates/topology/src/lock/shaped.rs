//! Keys and fields with the shapes of their types.

use serde::de::DeserializeOwned;

use super::shape::Shape;
use super::shapes::{OneField, parse, trace, trace_field};
use crate::{FieldInfo, KeyInfo};

impl KeyInfo {
    /// Notes what the JSON of the type is made of, by its `Deserialize`, so that the lock sees a change of its
    /// fields and variants. Sets the text of the type, if it is unknown.
    ///
    /// The shape stays unknown if the type is recursive, or reads whatever there is, as an untagged or an
    /// internally tagged enum does: the lock compares the names of such types alone.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::graph::{KeyInfo, KeyKind};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Decision {
    ///     approve: bool,
    ///     note: Option<String>,
    /// }
    ///
    /// let key = KeyInfo::new("review", KeyKind::Interrupt).shaped::<Decision>();
    /// assert_eq!(key.ty, "Decision");
    /// assert_eq!(key.shape, "{ approve: bool, note?: Option<String> }");
    /// ```
    #[must_use]
    pub fn shaped<T: DeserializeOwned>(mut self) -> Self {
        if self.ty.is_empty() {
            self.ty = without_modules(std::any::type_name::<T>());
        }
        self.shape = text(trace::<T>(), &self.ty);
        self
    }
}

impl FieldInfo {
    /// Notes what the JSON of the type is made of, by a function that reads an update with this field alone.
    #[doc(hidden)]
    #[must_use]
    pub fn shaped_by(mut self, mut read: impl FnMut(OneField<'_>) -> bool) -> Self {
        self.shape = text(trace_field(&self.name, &mut read), &self.ty);
        self
    }
}

/// Returns the text of a shape; empty if the text of the type says the same.
fn text(shape: Option<Shape>, ty: &str) -> String {
    let shape = shape.filter(|shape| parse(ty).as_ref() != Some(shape));
    shape.map_or_else(String::new, |shape| shape.to_string())
}

/// Returns the text of a type without the modules of its parts.
fn without_modules(name: &str) -> String {
    let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let parts = name.split_inclusive(|c| !is_of_path(c));
    parts
        .map(|part| part.rsplit("::").next().unwrap_or(part))
        .collect()
}
