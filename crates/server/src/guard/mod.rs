//! Who may call the server, what they see, and how much they may ask for.

mod access;
mod actions;
mod authenticate;
mod authorize;
mod bearer;
mod filter;
mod layer;
mod limits;
mod per_owner;
mod said;
mod source;
mod user;

pub(crate) use access::Access;
pub use authenticate::{Authenticate, Caller, Refusal};
pub use authorize::{Action, Authorize, Resource};
pub use bearer::BearerTokens;
pub use filter::Filter;
pub(crate) use filter::Filters;
pub(crate) use layer::{authenticate, authorize};
pub use limits::Limits;
pub(crate) use per_owner::{Counted, PerOwner};
pub(crate) use source::{Sources, check_source};
pub use user::User;
