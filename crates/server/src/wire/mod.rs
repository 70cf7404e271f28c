//! The forms of the wire that differ from the crate's own.

pub(crate) mod a2a;
pub(crate) mod ag_ui;
pub(crate) mod approval;
pub(crate) mod chunk;
pub(crate) mod message;
pub(crate) mod namespace;
pub(crate) mod question;
pub(crate) mod sleep;
pub(crate) mod time;
pub(crate) mod truth;
pub(crate) mod usage;
