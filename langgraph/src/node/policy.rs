//! What is done around a node: retries and time limits.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::NodeError;

/// When a failed node is tried again, and after how long.
///
/// The wait before attempt `k + 1` is `initial · backoff^(k-1)`, at most `max_interval`, plus up
/// to `jitter` of itself. The defaults are LangGraph's: three attempts, half a second, doubled
/// each time, at most 128 seconds.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph::node::RetryPolicy;
///
/// let policy = RetryPolicy::attempts(5)
///     .initial_interval(Duration::from_millis(20))
///     .retry_on(|error| error.is::<std::io::Error>());
/// # let _ = policy;
/// ```
#[derive(Clone)]
pub struct RetryPolicy {
    pub(crate) max_attempts: u32,
    initial_interval: Duration,
    backoff: f64,
    max_interval: Duration,
    jitter: f64,
    retry_on: Option<Arc<dyn Fn(&NodeError) -> bool + Send + Sync>>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            initial_interval: Duration::from_millis(500),
            backoff: 2.0,
            max_interval: Duration::from_secs(128),
            jitter: 0.25,
            retry_on: None,
        }
    }
}

impl RetryPolicy {
    /// At most that many attempts, the first one included; 0 counts as 1.
    pub fn attempts(max_attempts: u32) -> Self {
        Self {
            max_attempts: max_attempts.max(1),
            ..Self::default()
        }
    }

    /// The wait before the second attempt.
    #[must_use]
    pub fn initial_interval(mut self, interval: Duration) -> Self {
        self.initial_interval = interval;
        self
    }

    /// By what each wait is longer than the one before.
    #[must_use]
    pub fn backoff(mut self, factor: f64) -> Self {
        self.backoff = if factor.is_finite() {
            factor.max(1.0)
        } else {
            1.0
        };
        self
    }

    /// The longest wait.
    #[must_use]
    pub fn max_interval(mut self, interval: Duration) -> Self {
        self.max_interval = interval;
        self
    }

    /// Up to which fraction of itself a wait is lengthened at random; 0 for none.
    #[must_use]
    pub fn jitter(mut self, fraction: f64) -> Self {
        self.jitter = if fraction.is_finite() {
            fraction.max(0.0)
        } else {
            0.0
        };
        self
    }

    /// No waiting at all between attempts.
    #[must_use]
    pub fn immediately(self) -> Self {
        self.initial_interval(Duration::ZERO).jitter(0.0)
    }

    /// Tries again only after errors for which `accept` is true. Without it, after every error.
    #[must_use]
    pub fn retry_on(mut self, accept: impl Fn(&NodeError) -> bool + Send + Sync + 'static) -> Self {
        self.retry_on = Some(Arc::new(accept));
        self
    }

    pub(crate) fn accepts(&self, error: &NodeError) -> bool {
        self.retry_on.as_ref().is_none_or(|accept| accept(error))
    }

    /// How long to wait after `attempts` failed attempts.
    pub(crate) fn wait(&self, attempts: u32) -> Duration {
        let exponent = i32::try_from(attempts.saturating_sub(1)).unwrap_or(i32::MAX);
        let longest = self.max_interval.as_secs_f64();
        let base = (self.initial_interval.as_secs_f64() * self.backoff.powi(exponent)).min(longest);
        let seconds = base * (1.0 + self.jitter * fastrand::f64());
        Duration::try_from_secs_f64(seconds).unwrap_or(self.max_interval)
    }
}

impl From<u32> for RetryPolicy {
    fn from(max_attempts: u32) -> Self {
        Self::attempts(max_attempts)
    }
}

impl fmt::Debug for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryPolicy")
            .field("max_attempts", &self.max_attempts)
            .field("initial_interval", &self.initial_interval)
            .field("backoff", &self.backoff)
            .field("max_interval", &self.max_interval)
            .field("jitter", &self.jitter)
            .field("retry_on", &self.retry_on.as_ref().map(|_| "…"))
            .finish()
    }
}

/// A node took longer than it may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("exceeded its {kind} timeout of {limit:?}")]
#[non_exhaustive]
pub struct NodeTimeout {
    /// Which limit was exceeded.
    pub kind: TimeoutKind,
    /// That limit.
    pub limit: Duration,
}

/// Which time limit of a node was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// The limit of one attempt.
    Run,
    /// The limit of the time without progress.
    Idle,
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::Idle => "idle",
        })
    }
}
