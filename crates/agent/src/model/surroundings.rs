//! What is around a model, whichever is called.

use std::fmt;
use std::sync::Arc;

use super::ChatModel;

type Around = dyn Fn(Arc<dyn ChatModel>) -> Arc<dyn ChatModel> + Send + Sync;

/// What is around the model of a call, the innermost first. A model that takes its place gets it, too.
#[derive(Clone, Default)]
pub(crate) struct Surroundings(Vec<Arc<Around>>);

impl Surroundings {
    /// Adds one further out.
    pub(crate) fn push(
        &mut self,
        around: impl Fn(Arc<dyn ChatModel>) -> Arc<dyn ChatModel> + Send + Sync + 'static,
    ) {
        self.0.push(Arc::new(around));
    }

    /// Returns the model with all of them around it.
    pub(crate) fn around(&self, model: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        self.0.iter().fold(model, |model, around| around(model))
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Surroundings({})", self.0.len())
    }
}
