//! Nodes that know little of the state or of their errors.

use langgraph::prelude::*;

use super::{Failed, Notes, NotesUpdate, say};

/// A state that keeps a log, whichever it is.
trait Logged: State {
    fn log(line: String) -> Self::Update;
}

impl Logged for Notes {
    fn log(line: String) -> NotesUpdate {
        say(&line)
    }
}

/// A node of any such state.
#[node]
async fn of_any_state<S: Logged>(_: &S, cx: &Context) -> Result<S::Update, NodeError> {
    Ok(S::log(cx.node().to_owned()))
}

#[tokio::test]
async fn a_node_that_is_generic_over_the_state_returns_its_update() {
    let graph = graph! { type State = Notes; START => of_any_state => END };
    let notes = graph.compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(notes.log, ["of_any_state"]);
}

#[tokio::test]
async fn an_error_in_a_box_is_given_back_as_it_was() {
    #[node]
    async fn fails(_: &Notes) -> Result<(), NodeError> {
        let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(Failed);
        Err(NodeError::boxed(boxed))
    }

    let graph = graph! { START => fails => END }.compile().unwrap();
    let Err(AgentError::Node { source, .. }) = graph.invoke(()).await else {
        panic!("the node fails");
    };
    assert!(source.downcast_ref::<Failed>().is_some());
}
