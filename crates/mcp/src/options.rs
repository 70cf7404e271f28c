//! The options of a connection.

use std::time::Duration;

/// The options of a connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) prefix: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(60),
            call_timeout: Duration::from_secs(300),
            prefix: String::new(),
        }
    }
}

impl Options {
    /// Limits the time until the server is ready, and to list its tools; the default is a minute.
    /// Some servers are downloaded at their first start.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Limits the time of a call; the default is five minutes. A longer call is cancelled, and the
    /// model reads that.
    #[must_use]
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.call_timeout = limit;
        self
    }

    /// Sets a prefix for the names of the tools, so that those of several servers do not clash.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }
}
