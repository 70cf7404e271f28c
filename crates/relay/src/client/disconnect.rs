//! The end of a connection.

use crate::error::RelayError;

/// Why a connection ended.
pub(crate) enum Disconnect {
    Broken(String),
    Refused(RelayError),
}
