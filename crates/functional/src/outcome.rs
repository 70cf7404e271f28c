//! What an entrypoint returns.

/// A result, and what the thread keeps for the next run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Final<T, M> {
    pub(crate) value: T,
    pub(crate) memory: Option<M>,
}

impl<T, M> Final<T, M> {
    /// Creates a result; the thread keeps what it has.
    pub fn new(value: T) -> Self {
        Self {
            value,
            memory: None,
        }
    }

    /// Sets what the next run gets as `previous`.
    #[must_use]
    pub fn save(mut self, memory: M) -> Self {
        self.memory = Some(memory);
        self
    }
}
