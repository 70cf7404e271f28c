//! Resources that nodes ask for in vain.

/// A node asks for a resource that neither the graph nor the run has.
///
/// A node that always asks for it, as its `#[node]` function shows, is found at the start of the run: no node
/// runs, and nothing is stored.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::error::MissingResource;
/// use langgraph::prelude::*;
///
/// trait Clock: Send + Sync {
///     fn hour(&self) -> u8;
/// }
///
/// struct Noon;
///
/// impl Clock for Noon {
///     fn hour(&self) -> u8 {
///         12
///     }
/// }
///
/// #[node]
/// async fn greet(_: &String, cx: &Context) -> Result<String, NodeError> {
///     let hour = cx.resource::<dyn Clock>()?.hour();
///     Ok(if hour < 12 { "good morning" } else { "good day" }.to_owned())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! { START => greet => END }.compile()?;
///
/// // Given as what it is, and asked for as a trait object.
/// let error = graph.run(String::new()).resource(Arc::new(Noon)).await.unwrap_err();
/// assert!(error.node_error().is_some_and(|error| error.is::<MissingResource>()));
/// assert!(error.to_string().starts_with("node `greet` cannot run: no resource of type `dyn "));
///
/// let run = graph.run(String::new()).resource::<dyn Clock>(Arc::new(Noon));
/// assert_eq!(run.await?.finished()?, "good day");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no resource of type `{wanted}`; give it to the graph or to the run with {} (given: {})",
    remedy(wanted),
    list(given)
)]
pub struct MissingResource {
    wanted: &'static str,
    given: Vec<&'static str>,
}

impl MissingResource {
    /// Creates the error from the names of types: the wanted one, and those of the resources that there are.
    #[doc(hidden)]
    pub fn new(wanted: &'static str, given: Vec<&'static str>) -> Self {
        Self { wanted, given }
    }
}

/// Returns the call that gives the resource. A value is found by the type that it is given as.
fn remedy(wanted: &str) -> String {
    if !wanted.starts_with("dyn ") {
        return format!("`.resource(Arc<{wanted}>)`");
    }
    let written = format!("`.resource::<{wanted}>(Arc::new(value))`, with this turbofish");
    if wanted.ends_with("::ChatModel") {
        format!("`.model(value)`, which is {written}")
    } else {
        written
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

crate::debug_is_message!(MissingResource);
