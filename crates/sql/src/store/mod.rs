//! What stores in SQL databases share: namespaces as text, filters as conditions, the items of a
//! page, and the ranking of a search by meaning.

mod filter;
mod found;
mod namespace;
mod ranking;

pub use filter::{Truth, condition};
pub use found::{Found, Renewal, answer};
pub use namespace::{NamespaceRange, certain_labels, namespace_text, read_namespace};
pub use ranking::{Ranking, wrong_dimensions};
