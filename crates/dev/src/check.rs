//! `cargo langgraph check`: what is wrong with the graphs, and with the threads that wait on them.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;
use langgraph::graph::lints;
use langgraph::graph::lock::{self, LockError};
use langgraph_server::ServedGraph;
use langgraph_sqlite::SqliteSaver;

use crate::Graphs;
use crate::database::open;
use crate::report::Report;

/// Checks all graphs: their lints, the lock if there is one, and the threads of a database if one is named.
/// It runs no graph and changes no thread.
pub(crate) async fn check(
    graphs: &Graphs,
    lock: &Path,
    file: Option<&Path>,
) -> Result<Report, Box<dyn Error>> {
    let saver = file.map(open).transpose()?;
    let saver = saver.map(|database| Arc::new(SqliteSaver::new(database)) as Arc<dyn Checkpointer>);
    let blesses = std::env::var_os("LANGGRAPH_BLESS").is_some_and(|value| !value.is_empty());
    let mut report = Report::default();
    for (name, graph) in graphs.iter() {
        let graph = graph.served();
        check_lints(&mut report, name, graph);
        if lock.exists() || blesses {
            match check_lock(lock, name, graph) {
                Ok(()) => report.fine(name, "threads that wait survive a deploy"),
                Err(error) => report.problem(name, &error),
            }
        }
        if let Some(saver) = &saver {
            check_threads(&mut report, name, graph, saver).await?;
        }
    }
    Ok(report)
}

/// Compares a graph with the lock, where one without a name of its own has that of the package.
fn check_lock(lock: &Path, name: &str, graph: &ServedGraph) -> Result<(), LockError> {
    let topology = graph.topology();
    match lock::check(lock, topology) {
        Err(LockError::Unnamed) => {
            let mut named = topology.clone();
            name.clone_into(&mut named.name);
            lock::check(lock, &named)
        }
        checked => checked,
    }
}

fn check_lints(report: &mut Report, name: &str, graph: &ServedGraph) {
    let found = lints(graph.topology());
    if found.is_empty() {
        report.fine(name, "no lints");
    }
    for lint in found {
        report.problem(name, &lint);
    }
}

async fn check_threads(
    report: &mut Report,
    name: &str,
    graph: &ServedGraph,
    saver: &Arc<dyn Checkpointer>,
) -> Result<(), Box<dyn Error>> {
    let threads = graph.check_threads(Arc::clone(saver)).await?;
    report.problems += threads.blocked().count();
    for line in threads.to_string().lines() {
        report.fine(name, line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use langgraph::prelude::*;
    use langgraph_sqlite::SqliteSaver;

    use super::{Graphs, check};
    use std::sync::Arc;

    #[allow(clippy::trivially_copy_pass_by_ref)] // a node borrows its state
    fn ask(n: &i64, cx: &Context) -> Result<i64, NodeError> {
        let sure: bool = cx.interrupt("sure?", n)?;
        Ok(if sure { n + 1 } else { *n })
    }

    fn graph(node: &str) -> CompiledStateGraph<i64> {
        let mut graph = StateGraph::<i64>::new();
        graph.set_name("sums");
        graph.add_node(node, ask).add_sequence(&[node]);
        graph.compile().expect("the graph of a test compiles")
    }

    async fn graphs(node: &str) -> Graphs {
        let mut graphs = Graphs::default();
        let added = graphs.add("sums", graph(node)).await;
        added.expect("a graph can be added");
        graphs
    }

    #[tokio::test]
    async fn threads_that_wait_on_a_node_that_is_gone_are_problems() {
        let folder = tempfile::tempdir().expect("there is a folder for the test");
        let (lock, file) = (
            folder.path().join("graph.lock"),
            folder.path().join("threads.db"),
        );
        let saver = SqliteSaver::open(&file).expect("the database opens");
        let old = graph("ask").checkpointer(Arc::new(saver));
        old.run(1).thread("t-1").await.expect("the run pauses");
        let locked = langgraph::graph::lock::write([old.topology()]);
        std::fs::write(&lock, locked).expect("the lock is written");

        let report = check(&graphs("ask").await, &lock, Some(&file)).await;
        let report = report.expect("the graphs are checked");
        assert_eq!(report.problems, 0, "{}", report.text);
        assert!(report.text.contains("sums: no lints\n"), "{}", report.text);
        assert!(
            report
                .text
                .contains("1 threads, 0 of other versions, 0 blocked")
        );

        let report = check(&graphs("confirm").await, &lock, Some(&file)).await;
        let report = report.expect("the graphs are checked");
        assert_eq!(report.problems, 2, "{}", report.text);
        assert!(report.text.contains("sums: error: "), "{}", report.text);
        assert!(report.text.contains("sums: blocked: "), "{}", report.text);
        assert!(report.text.contains("t-1"), "{}", report.text);
    }

    #[tokio::test]
    async fn lints_are_problems_and_a_missing_database_an_error() {
        let folder = tempfile::tempdir().expect("there is a folder for the test");
        let (lock, file) = (
            folder.path().join("graph.lock"),
            folder.path().join("threads.db"),
        );
        let mut lonely = StateGraph::<i64>::new();
        lonely
            .add_node("a", |n: &i64| *n)
            .add_node("b", |n: &i64| *n)
            .add_edge(START, "a")
            .add_edge("a", END);
        let mut graphs = Graphs::default();
        let added = graphs.add("lonely", lonely.compile()).await;
        added.expect("a graph can be added");
        let report = check(&graphs, &lock, None).await.expect("it is checked");
        assert_eq!(report.problems, 1, "{}", report.text);
        assert!(
            report.text.starts_with("lonely: error: "),
            "{}",
            report.text
        );

        let error = check(&graphs, &lock, Some(&file))
            .await
            .expect_err("there is no file");
        assert!(error.to_string().starts_with("there is no database `"));
        assert!(!file.exists());
    }
}
