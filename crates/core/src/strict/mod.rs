//! Finds values that a serde format would change, before they are written.
//!
//! Some serializers write NaN as `null`, or the key 7 as `"7"`, without an error. The loss shows
//! only when the value is read, if at all. [`Limits`] says what a format cannot hold.
//! [`Limits::check`] inspects any value that is `Serialize`, writes nothing, and names the place:
//!
//! ```
//! use langgraph::checkpoint::Limits;
//!
//! let by_name = std::collections::BTreeMap::from([("Ada", [1.0, f64::INFINITY])]);
//! let refused = Limits::JSON.check(&by_name).unwrap_err();
//! assert_eq!(refused.path(), Some("Ada[1]"));
//! assert!(refused.reason().starts_with("`inf` cannot be stored as JSON"));
//! ```

mod check;
mod key;
mod limits;
mod refusal;

pub use limits::Limits;
pub use refusal::Refusal;
