//! What the runs in a file were given.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::rows::{Run, runs_in_file};
use crate::{RunContext, ServerError};

/// What the runs in the SQLite file of a server were given: for a replay of their threads.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
///
/// use langgraph_server::{Server, StoredContexts};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("threads.db");
/// Server::new().file(&file).start().await?;
/// let contexts = StoredContexts::open(&file)?;
/// let metadata = BTreeMap::from([("greeting".to_owned(), "Hello".into())]);
/// assert_eq!(contexts.of_run(&metadata).configurable["greeting"], "Hello");
/// # Ok(())
/// # }
/// ```
///
/// A replay gives it to the nodes:
/// `replay(saver, &graph).run_resource(move |metadata| contexts.of_run(metadata))`.
#[derive(Clone, Debug)]
pub struct StoredContexts {
    by_run: HashMap<String, Arc<RunContext>>,
}

impl StoredContexts {
    /// Reads the file, which is not changed. A file without a server's runs has no contexts.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ServerError> {
        let runs = runs_in_file(path.as_ref());
        let runs = runs.map_err(|error| ServerError::Rows(Box::new(error)))?;
        Ok(Self::of(runs))
    }

    pub(crate) fn of(runs: Vec<Run>) -> Self {
        let with_id = |run: Run| (run.run_id.clone(), Arc::new(RunContext::of(&run.kwargs)));
        Self {
            by_run: runs.into_iter().map(with_id).collect(),
        }
    }

    /// Returns what the run with this metadata was given. Of a run that the file does not have, or has no
    /// more, only `configurable` is known: it is part of the metadata.
    pub fn of_run(&self, metadata: &BTreeMap<String, Value>) -> Arc<RunContext> {
        let id = metadata.get("run_id").and_then(Value::as_str);
        if let Some(context) = id.and_then(|id| self.by_run.get(id)) {
            return Arc::clone(context);
        }
        Arc::new(RunContext {
            configurable: Value::Object(metadata.clone().into_iter().collect()),
            ..RunContext::default()
        })
    }
}
