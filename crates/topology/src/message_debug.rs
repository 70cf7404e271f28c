//! The `Debug` form of errors: their message.

/// Implements `Debug` of an error as its message, so that `fn main() -> Result<(), Box<dyn Error>>` and `unwrap`
/// show the text that was written for people. `{:#?}` has the type and the cause.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_is_message {
    ($error:ty) => {
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::fmt_message(stringify!($error), self, f)
            }
        }
    };
}

/// Prints an error as its message, or with its cause in the alternate form.
#[doc(hidden)]
pub fn fmt_message(
    name: &str,
    error: &dyn std::error::Error,
    f: &mut std::fmt::Formatter<'_>,
) -> std::fmt::Result {
    if !f.alternate() {
        return std::fmt::Display::fmt(error, f);
    }
    let mut shown = f.debug_struct(name);
    shown.field("message", &error.to_string());
    if let Some(cause) = error.source() {
        shown.field("cause", &cause);
    }
    shown.finish()
}
