//! What a function that makes a graph may return.

use std::error::Error;

use crate::Graph;

/// What a function that makes a graph may return: a compiled graph, a
/// [`GraphHandle`](langgraph_server::GraphHandle), a `Result` of either, or a future of any of these.
///
/// `Form` is found by the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no graph that can be served",
    note = "a function under `[package.metadata.langgraph.graphs]` returns a compiled graph or a \
            `langgraph_server::GraphHandle`, a `Result` of it, or is an async function that does"
)]
pub trait IntoGraph<Form> {
    /// Returns the graph, or why it could not be made.
    #[expect(async_fn_in_trait, reason = "it is awaited on one thread")]
    async fn into_graph(self) -> Result<Graph, Box<dyn Error>>;
}

/// The form of a graph.
#[derive(Debug)]
pub struct Direct;

/// The form of a `Result`.
#[derive(Debug)]
pub struct Fallible;

/// The form of a future whose output has the form `F`.
#[derive(Debug)]
pub struct Future<F>(F);

impl<G: Into<Graph>> IntoGraph<Direct> for G {
    async fn into_graph(self) -> Result<Graph, Box<dyn Error>> {
        Ok(self.into())
    }
}

impl<G, E> IntoGraph<Fallible> for Result<G, E>
where
    G: Into<Graph>,
    E: Into<Box<dyn Error>>,
{
    async fn into_graph(self) -> Result<Graph, Box<dyn Error>> {
        self.map(Into::into).map_err(Into::into)
    }
}

impl<F, Form> IntoGraph<Future<Form>> for F
where
    F: std::future::Future<Output: IntoGraph<Form>>,
{
    async fn into_graph(self) -> Result<Graph, Box<dyn Error>> {
        self.await.into_graph().await
    }
}
