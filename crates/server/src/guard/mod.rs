//! Who may call the server, what they see, and how much they may ask for.

mod access;
mod authenticate;
mod bearer;
mod layer;
mod limits;
mod source;
mod user;

pub(crate) use access::Access;
pub use authenticate::{Authenticate, Caller, Refusal};
pub use bearer::BearerTokens;
pub(crate) use layer::authenticate;
pub use limits::Limits;
pub(crate) use source::{Sources, check_source};
pub use user::User;
