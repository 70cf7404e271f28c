//! Histories of threads and their subgraphs, as clients ask for them.

use langgraph::State;
use langgraph::checkpoint::{CheckpointId, ListOptions, Snapshot};
use langgraph::error::AgentError;
use langgraph::thread::Thread;
use serde::Serialize;
use serde_json::{Map, Value};

use super::inside::Namespace;
use super::json::source_in;
use super::view::View;
use crate::rows::contains;

/// Which checkpoints of a thread, or of a subgraph of it, a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct HistoryQuery {
    pub(crate) namespace: Option<Namespace>,
    /// Only this one.
    pub(crate) at: Option<CheckpointId>,
    /// Only those older than this one.
    pub(crate) before: Option<CheckpointId>,
    pub(crate) limit: usize,
    /// Only those whose metadata hold these.
    pub(crate) metadata: Map<String, Value>,
}

/// The most states that are read at once. They may be large.
const PAGE: usize = 256;

impl HistoryQuery {
    /// Returns what the saver can select by; `None` if no checkpoint of that place has the metadata. A saver reads no
    /// state for it.
    fn selection(&self, place: &Map<String, Value>) -> Option<ListOptions> {
        let mut options = ListOptions::new();
        if let Some(before) = self.before {
            options = options.before(before);
        }
        for (key, wanted) in &self.metadata {
            options = match (&**key, place.get(key), wanted) {
                ("source", _, wanted) => options.source(source_in(wanted.as_str()?)?),
                ("step", _, Value::Number(step)) => match step.as_i64() {
                    Some(step) => options.steps(step..=step),
                    None => options,
                },
                ("step", ..) => return None,
                // It is the same in each of them.
                (_, Some(there), wanted) if !contains(there, wanted) => return None,
                (_, None, Value::String(_) | Value::Bool(_) | Value::Null) => {
                    options.metadata(key, wanted.clone())
                }
                // `1` is `1.0` too, and an object holds a part of it: their checkpoints are read.
                _ => options,
            };
        }
        Some(options)
    }
}

/// Returns the checkpoints that a client asks for, the newest first. States are read by the page, until there are enough.
pub(super) async fn history<S: State<Update: Serialize>>(
    thread: &Thread<S>,
    query: &HistoryQuery,
    view: &View<'_>,
) -> Result<Vec<Value>, AgentError> {
    let wanted = Value::Object(query.metadata.clone());
    let shown = |snapshot: &Snapshot<S>| {
        let state = view.shown(snapshot);
        contains(&state["metadata"], &wanted).then_some(state)
    };
    if let Some(id) = query.at {
        let only = thread.at(id).state().await?;
        let only = only.filter(|only| query.before.is_none_or(|before| only.id < before));
        return Ok(only.iter().filter_map(shown).take(query.limit).collect());
    }
    let Some(mut options) = query.selection(&view.place.metadata()) else {
        return Ok(Vec::new());
    };
    let (mut found, mut page) = (Vec::new(), query.limit);
    loop {
        let read = thread.history_with(options.clone().limit(page)).await?;
        let left = query.limit - found.len();
        found.extend(read.iter().filter_map(shown).take(left));
        let Some(last) = read.last().filter(|_| found.len() < query.limit) else {
            return Ok(found);
        };
        options = options.before(last.id);
        // A page reads again what its checkpoints build on, so later ones are larger.
        page = (page * 2).clamp(page, PAGE.max(page));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use langgraph::checkpoint::{
        Batch, Chain, Checkpointer, Head, MemorySaver, ThreadKey, forward_checkpointer,
    };
    use langgraph::error::CheckpointError;
    use langgraph::graph::StateGraph;
    use serde_json::json;
    use std::sync::Mutex;

    use super::super::checkpoint_place::CheckpointPlace;
    use super::super::unwritten::Unwritten;
    use super::*;

    /// A saver that notes how many checkpoints each listing returns.
    #[derive(Default)]
    struct Noting {
        saver: MemorySaver,
        listed: Mutex<Vec<usize>>,
    }

    #[langgraph::async_trait]
    impl Checkpointer for Noting {
        async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
            self.saver.put(key, batch).await
        }

        async fn load(
            &self,
            key: &ThreadKey,
            id: Option<CheckpointId>,
        ) -> Result<Option<Chain>, CheckpointError> {
            self.saver.load(key, id).await
        }

        async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
            self.saver.head(key).await
        }

        async fn list(
            &self,
            key: &ThreadKey,
            options: ListOptions,
        ) -> Result<Vec<CheckpointId>, CheckpointError> {
            let listed = self.saver.list(key, options).await?;
            self.listed.lock().unwrap().push(listed.len());
            Ok(listed)
        }

        forward_checkpointer!(saver: formats, abilities);
    }

    #[tokio::test]
    async fn only_pages_of_a_history_are_read() {
        let saver = Arc::new(Noting::default());
        let mut graph = StateGraph::<i64>::new();
        graph
            .add_node("add", |n: &i64| n + 1)
            .add_sequence(&["add"]);
        let graph = graph.compile().unwrap();
        let graph = graph.checkpointer(Arc::clone(&saver) as Arc<dyn Checkpointer>);
        let thread = graph.thread("t");
        // Three checkpoints for each run.
        for run in 0..40 {
            let metadata =
                json!({"run": format!("r{run}"), "deep": {"even": run % 2 == 0, "n": run}});
            let mut run = thread.run(run);
            for (key, value) in metadata.as_object().unwrap() {
                run = run.metadata(key, value.clone());
            }
            run.await.unwrap();
        }
        let (unwritten, place) = (Unwritten::default(), CheckpointPlace::root("t"));
        let view = View {
            place,
            unwritten: &unwritten,
            inner: &[],
            topology: graph.topology(),
            shows_errors: false,
        };
        for (metadata, found, listed) in [
            (json!({}), 4, vec![4]),
            // The saver selects by texts, sources and supersteps.
            (json!({"run": "r3"}), 3, vec![3, 0]),
            (json!({"source": "input"}), 4, vec![4]),
            (json!({"source": "input", "run": "r3"}), 1, vec![1, 0]),
            (json!({"run": "none"}), 0, vec![0]),
            // No state is read for what no checkpoint of the thread has.
            (json!({"source": "none"}), 0, vec![]),
            (json!({"thread_id": "other"}), 0, vec![]),
            // The others are found in what is read, until there are enough.
            (json!({"deep": {"even": true}}), 4, vec![4, 8]),
            (json!({"deep": {"n": 37.0}}), 3, vec![4, 8, 16, 32, 60, 0]),
        ] {
            saver.listed.lock().unwrap().clear();
            let query = HistoryQuery {
                namespace: None,
                at: None,
                before: None,
                limit: 4,
                metadata: metadata.as_object().unwrap().clone(),
            };
            let states = history(&thread, &query, &view).await.unwrap();
            assert_eq!(states.len(), found, "{metadata}");
            assert_eq!(*saver.listed.lock().unwrap(), listed, "{metadata}");
        }
    }
}
