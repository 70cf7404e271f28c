//! `cargo langgraph test`: stored threads, run again on the graphs of today.

use std::error::Error;
use std::sync::Arc;

use langgraph_server::{DryStore, StoredContexts};
use langgraph_sqlite::{SqliteSaver, SqliteStore};
use langgraph_testing::ReplayReport;

use crate::Graphs;
use crate::database::open;
use crate::graph::Stored;
use crate::replay_options::ReplayOptions;
use crate::report::Report;

/// Runs the threads of a database again. It changes nothing there.
pub(crate) async fn replay(
    graphs: &Graphs,
    options: &ReplayOptions,
) -> Result<Report, Box<dyn Error>> {
    let database = open(&options.file)?;
    let stored = Stored {
        saver: Arc::new(SqliteSaver::new(database.clone())),
        store: Arc::new(DryStore::new(Arc::new(SqliteStore::new(database)))),
        contexts: StoredContexts::open(&options.file)?,
    };
    let mut report = Report::default();
    let mut found = 0;
    for (name, graph) in graphs.select(options.graph.as_deref())? {
        let replayed = graph.replay(stored.clone(), options, name).await?;
        found += replayed.threads.len();
        add(&mut report, name, &replayed);
    }
    if found == 0 {
        return Err(no_thread(options).into());
    }
    Ok(report)
}

fn no_thread(options: &ReplayOptions) -> String {
    let file = options.file.display();
    let graph = match &options.graph {
        Some(name) => format!("of the graph `{name}`"),
        None => "of these graphs".to_owned(),
    };
    match &options.thread {
        Some(thread) => format!("`{file}` has no thread `{thread}` {graph}"),
        None => format!("`{file}` has no thread {graph}"),
    }
}

/// Adds what was found about the threads of a graph.
fn add(report: &mut Report, name: &str, replayed: &ReplayReport) {
    for line in replayed.to_string().lines() {
        report.fine(name, line);
    }
    let threads = replayed.threads.iter();
    let problems = threads
        .filter(|thread| thread.divergence.is_some() || thread.unreadable.is_some())
        .count();
    report.problems += problems;
    if !replayed.threads.is_empty() && problems == 0 && !replayed.is_same() {
        report.problem(name, &"nothing of its threads was compared");
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use langgraph::prelude::*;
    use langgraph_server::RunContext;
    use langgraph_sqlite::{SqliteSaver, SqliteStore};
    use langgraph_store::prelude::*;
    use tempfile::TempDir;

    use super::replay;
    use crate::Graphs;
    use crate::replay_options::ReplayOptions;
    use crate::report::Report;

    type Node = fn(&i64, &Context) -> Result<i64, NodeError>;

    #[allow(clippy::trivially_copy_pass_by_ref, clippy::unnecessary_wraps)] // the form of a node
    fn double(n: &i64, _: &Context) -> Result<i64, NodeError> {
        Ok(n * 2)
    }

    #[allow(clippy::trivially_copy_pass_by_ref, clippy::unnecessary_wraps)]
    fn triple(n: &i64, _: &Context) -> Result<i64, NodeError> {
        Ok(n * 3)
    }

    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn scale(n: &i64, cx: &Context) -> Result<i64, NodeError> {
        let context = cx.resource::<RunContext>()?;
        Ok(n * context.configurable["factor"].as_i64().unwrap_or_default())
    }

    /// Keeps how often it was called, and returns it.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    async fn count(n: &i64, cx: &Context) -> Result<i64, NodeError> {
        let store = cx.store()?;
        let calls: i64 = store.get_as(["calls"], "all").await?.unwrap_or(1);
        store.put(["calls"], "all", &calls).await?;
        store.delete(["calls"], "none").await?;
        Ok(n + calls)
    }

    fn compiled(node: Node) -> CompiledStateGraph<i64> {
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("work", node).add_sequence(&["work"]);
        graph.compile().expect("the graph of a test compiles")
    }

    fn file() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("there is a folder for the test");
        let file = folder.path().join("threads.db");
        (folder, file)
    }

    /// Runs a graph on a thread, as a server does for the graph of this name.
    async fn store(file: &Path, graph: CompiledStateGraph<i64>, name: &str, thread: &str) {
        let saver = SqliteSaver::open(file).expect("the database opens");
        let graph = graph.checkpointer(Arc::new(saver));
        let run = graph.run(7).thread(thread);
        let run = run.metadata("graph_id", name).metadata("factor", 5);
        run.resource(Arc::new(RunContext::default()))
            .await
            .expect("the run ends");
    }

    async fn replayed(
        graphs: impl IntoIterator<Item = (&str, CompiledStateGraph<i64>)>,
        options: ReplayOptions,
    ) -> Result<Report, String> {
        let mut added = Graphs::default();
        for (name, graph) in graphs {
            let result = added.add(name, graph).await;
            result.expect("a graph can be added");
        }
        let report = replay(&added, &options).await;
        report.map_err(|error| error.to_string())
    }

    fn of(file: &Path) -> ReplayOptions {
        ReplayOptions::read(&file.display().to_string(), &[]).expect("no option is wrong")
    }

    #[tokio::test]
    async fn a_thread_that_goes_another_way_is_a_problem() {
        let (_folder, file) = file();
        store(&file, compiled(double), "sums", "t-1").await;
        store(&file, compiled(double), "sums", "t-2").await;

        let report = replayed([("sums", compiled(double))], of(&file)).await;
        let report = report.expect("the threads are replayed");
        assert_eq!(report.problems, 0, "{}", report.text);

        let report = replayed([("sums", compiled(triple))], of(&file)).await;
        let report = report.expect("the threads are replayed");
        assert_eq!(report.problems, 2, "{}", report.text);
        let line =
            "sums: thread `t-1`, superstep 1, node `work`, `value`: expected [14], got [21]\n";
        assert!(report.text.starts_with(line), "{}", report.text);
    }

    #[tokio::test]
    async fn a_thread_is_chosen_and_its_node_is_kept() {
        let (_folder, file) = file();
        store(&file, compiled(double), "sums", "t-1").await;
        store(&file, compiled(triple), "sums", "t-2").await;
        let path = file.display().to_string();

        let options = ReplayOptions::read(&path, &["thread", "t-1"]).expect("it is an option");
        let report = replayed([("sums", compiled(double))], options).await;
        let report = report.expect("the thread is replayed");
        assert_eq!(report.problems, 0, "{}", report.text);
        assert!(report.text.contains("0 of 1 threads diverge"));

        let options = ReplayOptions::read(&path, &["keep", "work"]).expect("it is an option");
        let report = replayed([("sums", compiled(double))], options).await;
        let report = report.expect("the threads are replayed");
        assert!(report.text.contains("0 of 2 threads diverge"));
    }

    #[tokio::test]
    async fn graphs_without_names_have_their_own_threads() {
        let (_folder, file) = file();
        store(&file, compiled(double), "doubles", "t-1").await;
        store(&file, compiled(triple), "triples", "t-2").await;
        let graphs = || [("doubles", compiled(double)), ("triples", compiled(triple))];
        let report = replayed(graphs(), of(&file)).await;
        let report = report.expect("the threads are replayed");
        assert_eq!(report.problems, 0, "{}", report.text);
        assert_eq!(report.text.matches("0 of 1 threads").count(), 2);

        let only = ReplayOptions {
            graph: Some("triples".to_owned()),
            ..of(&file)
        };
        let report = replayed(graphs(), only).await.expect("one is replayed");
        assert!(report.text.starts_with("triples: "), "{}", report.text);
    }

    #[tokio::test]
    async fn nodes_have_the_context_of_their_run() {
        let (_folder, file) = file();
        // The context of the first run was empty.
        store(&file, compiled(scale), "sums", "t-1").await;
        let report = replayed([("sums", compiled(scale))], of(&file)).await;
        let report = report.expect("the thread is replayed");
        let line = "`value`: expected [0], got [35]\n";
        assert!(report.text.contains(line), "{}", report.text);
    }

    #[tokio::test]
    async fn the_store_is_read_and_not_written() {
        let (_folder, file) = file();
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("count", count).add_sequence(&["count"]);
        let graph = graph.compile().expect("the graph compiles");
        let items = Arc::new(SqliteStore::open(&file).expect("the database opens"));
        items
            .put(["calls"], "all", &3)
            .await
            .expect("it is written");
        let first = graph.clone().store(Arc::clone(&items) as Arc<dyn Store>);
        store(&file, first, "sums", "t-1").await;

        let before = items.get(["calls"], "all").await.expect("it is read");
        let report = replayed([("sums", graph)], of(&file)).await;
        let report = report.expect("the thread is replayed");
        assert_eq!(report.problems, 0, "{}", report.text);
        let after = items.get(["calls"], "all").await.expect("it is read");
        assert_eq!(before, after);
    }

    #[tokio::test]
    async fn no_thread_and_no_database_are_errors() {
        let (_folder, file) = file();
        let graphs = || [("sums", compiled(double))];
        let error = replayed(graphs(), of(&file)).await.expect_err("no file");
        assert!(error.starts_with("there is no database `"), "{error}");
        assert!(!file.exists());

        store(&file, compiled(double), "sums", "t-1").await;
        let other = ReplayOptions {
            thread: Some("t-9".to_owned()),
            ..of(&file)
        };
        let error = replayed(graphs(), other).await.expect_err("no thread");
        assert!(error.ends_with("has no thread `t-9` of these graphs"));
    }

    #[test]
    fn options_without_a_value_or_a_meaning_are_refused() {
        for options in [&["thread"][..], &["color", "red"]] {
            assert!(ReplayOptions::read("threads.db", options).is_err());
        }
    }
}
