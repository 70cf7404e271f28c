//! Retries of nodes.

use std::sync::Arc;
use std::time::Duration;

use crate::log::random_fraction;

use super::limits::pause;
use crate::error::{NoRuntime, NodeError, Transient};

/// When to retry a failed node, and how long to wait before.
///
/// The wait before attempt `k + 1` is `initial · backoff^(k-1)`, at most `max_interval`, plus up to
/// `jitter` of itself. The defaults are LangGraph's: three attempts, half a second, doubled each
/// time, at most 128 seconds.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph::policy::RetryPolicy;
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
    /// Any of these may accept; an empty list accepts every error.
    retry_on: Vec<Predicate>,
    /// The waits that errors ask for; the first match applies.
    asked: Vec<Asked>,
}

type Asked = Arc<dyn Fn(&NodeError) -> Option<Duration> + Send + Sync>;
type Predicate = Arc<dyn Fn(&NodeError) -> bool + Send + Sync>;

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            initial_interval: Duration::from_millis(500),
            backoff: 2.0,
            max_interval: Duration::from_secs(128),
            jitter: 0.25,
            retry_on: Vec::new(),
            asked: Vec::new(),
        }
    }
}

impl RetryPolicy {
    /// Sets the maximum of attempts, including the first; 0 counts as 1.
    pub fn attempts(max_attempts: u32) -> Self {
        Self {
            max_attempts: max_attempts.max(1),
            ..Self::default()
        }
    }

    /// Returns how many attempts it allows.
    pub fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// Sets the wait before the second attempt.
    #[must_use]
    pub fn initial_interval(mut self, interval: Duration) -> Self {
        self.initial_interval = interval;
        self
    }

    /// Sets the factor by which each wait is longer than the previous one.
    #[must_use]
    pub fn backoff(mut self, factor: f64) -> Self {
        self.backoff = if factor.is_finite() {
            factor.max(1.0)
        } else {
            1.0
        };
        self
    }

    /// Sets the longest wait.
    #[must_use]
    pub fn max_interval(mut self, interval: Duration) -> Self {
        self.max_interval = interval;
        self
    }

    /// Sets the fraction of itself by which a wait is lengthened at random; 0 for none.
    #[must_use]
    pub fn jitter(mut self, fraction: f64) -> Self {
        self.jitter = if fraction.is_finite() {
            fraction.max(0.0)
        } else {
            0.0
        };
        self
    }

    /// Removes all waits between attempts.
    #[must_use]
    pub fn immediately(self) -> Self {
        self.initial_interval(Duration::ZERO).jitter(0.0)
    }

    /// Retries only errors for which `accept` returns true. Without a predicate, every error is
    /// retried.
    ///
    /// With several predicates, one that accepts is enough. [`is_transient`](crate::error::is_transient)
    /// is a ready-made predicate.
    #[must_use]
    pub fn retry_on(mut self, accept: impl Fn(&NodeError) -> bool + Send + Sync + 'static) -> Self {
        self.retry_on.push(Arc::new(accept));
        self
    }

    /// Retries an `E` for which `accept` returns true; other errors are left to the other
    /// predicates.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::error::{NodeError, is_transient};
    /// use langgraph::policy::RetryPolicy;
    ///
    /// #[derive(Debug, thiserror::Error)]
    /// #[error("status {0}")]
    /// struct Status(u16);
    ///
    /// impl Status {
    ///     fn is_retryable(&self) -> bool {
    ///         self.0 == 429 || self.0 >= 500
    ///     }
    /// }
    ///
    /// let policy = RetryPolicy::attempts(5)
    ///     .retry_on(is_transient)
    ///     .retry_on_error(Status::is_retryable);
    /// assert!(policy.accepts(&NodeError::from(Status(503))));
    /// assert!(!policy.accepts(&NodeError::from(Status(401))));
    /// ```
    #[must_use]
    pub fn retry_on_error<E: std::error::Error + 'static>(
        self,
        accept: impl Fn(&E) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.retry_on(move |error| error.downcast_ref::<E>().is_some_and(&accept))
    }

    /// Waits at least as long as an `E` asks for, as a rate limit does, even if that exceeds the
    /// longest wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use langgraph::policy::RetryPolicy;
    ///
    /// #[derive(Debug, thiserror::Error)]
    /// #[error("rate limited")]
    /// struct RateLimited(Duration);
    ///
    /// let policy = RetryPolicy::attempts(5).retry_after(|error: &RateLimited| Some(error.0));
    /// # let _ = policy;
    /// ```
    #[must_use]
    pub fn retry_after<E: std::error::Error + 'static>(
        mut self,
        asked: impl Fn(&E) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        let asked = move |error: &NodeError| error.downcast_ref::<E>().and_then(&asked);
        self.asked.push(Arc::new(asked));
        self
    }

    /// Returns true if this policy retries `error`, as long as attempts are left.
    pub fn accepts(&self, error: &NodeError) -> bool {
        self.retry_on.is_empty() || self.retry_on.iter().any(|accept| accept(error))
    }

    /// Waits until the next attempt, after `attempts` attempts, the last of which failed with `error`.
    /// Returns false if there is none: no attempt is left, or the policy does not retry the error.
    ///
    /// For code that repeats a part of a node; a node itself is repeated by
    /// [`retry`](crate::graph::NodeExt::retry).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::error::NodeError;
    /// use langgraph::policy::RetryPolicy;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), NodeError> {
    /// let policy = RetryPolicy::attempts(2).immediately();
    /// let error = NodeError::msg("busy");
    /// assert!(policy.next_attempt(1, &error).await?);
    /// assert!(!policy.next_attempt(2, &error).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Outside of a Tokio runtime there is nothing to wait with.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the wait.
    pub async fn next_attempt(&self, attempts: u32, error: &NodeError) -> Result<bool, NodeError> {
        if attempts >= self.max_attempts || !self.accepts(error) {
            return Ok(false);
        }
        NoRuntime::handle(|| {
            format!("another attempt after a wait (the last one failed: {error})")
        })?;
        pause(self.wait(attempts, error)).await;
        Ok(true)
    }

    /// Returns how long to wait after `attempts` attempts, the last of which failed with `error`.
    fn wait(&self, attempts: u32, error: &NodeError) -> Duration {
        let exponent = i32::try_from(attempts.saturating_sub(1)).unwrap_or(i32::MAX);
        let longest = self.max_interval.as_secs_f64();
        let base = (self.initial_interval.as_secs_f64() * self.backoff.powi(exponent)).min(longest);
        let seconds = base * (1.0 + self.jitter * random_fraction());
        let own = Duration::try_from_secs_f64(seconds).unwrap_or(self.max_interval);
        let asked = self.asked.iter().find_map(|asked| asked(error));
        let asked = asked.or_else(|| Transient::wait(error));
        own.max(asked.unwrap_or_default())
    }
}

impl From<u32> for RetryPolicy {
    fn from(max_attempts: u32) -> Self {
        Self::attempts(max_attempts)
    }
}

impl_debug!([] RetryPolicy, |policy|
    max_attempts = policy.max_attempts, initial_interval = policy.initial_interval,
    backoff = policy.backoff, max_interval = policy.max_interval, jitter = policy.jitter,
    predicates = policy.retry_on.len());
