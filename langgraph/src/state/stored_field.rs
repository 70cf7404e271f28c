//! Fields that savers of bytes can store.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What the type of a stored field has to be. It is a trait of its own for its message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be stored as bytes",
    label = "has a field of type `{Self}`, which is without serde",
    note = "derive `Serialize` and `Deserialize` for `{Self}`, or put `#[state(untracked)]` on the field: then no saver stores it"
)]
pub trait StoredField: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> StoredField for T {}
