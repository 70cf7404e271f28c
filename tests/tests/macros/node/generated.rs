//! Nodes that a macro writes, or that stand in a function.

use langgraph::prelude::*;

use super::{Notes, NotesUpdate};

macro_rules! counters {
    ($($name:ident: $state:ty = $step:literal;)*) => {$(
        #[node]
        async fn $name(state: &$state) -> NotesUpdate {
            NotesUpdate::default().count(state.count + $step)
        }
    )*};
}

counters! {
    one: Notes = 1;
    ten: Notes = 10;
}

#[tokio::test]
async fn d8_a_macro_may_write_nodes() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("one", one)
        .add_node("ten", ten)
        .add_sequence(&["one", "ten"]);
    assert_eq!(
        graph
            .compile()
            .unwrap()
            .invoke(Notes::default())
            .await
            .unwrap()
            .count,
        11
    );
}

#[tokio::test]
async fn d8_a_node_may_stand_in_a_function() {
    #[derive(State, Clone, Default)]
    struct Local {
        n: i64,
    }

    #[node]
    async fn local(state: &Local) -> LocalUpdate {
        LocalUpdate::default().n(state.n + 1)
    }

    #[node]
    fn sync_local(state: &Local, _: &Context) -> Local {
        Local { n: state.n * 2 }
    }

    let mut graph = StateGraph::<Local>::new();
    graph
        .add_node("local", local)
        .add_node("sync_local", sync_local)
        .add_sequence(&["local", "sync_local"]);
    assert_eq!(
        graph
            .compile()
            .unwrap()
            .invoke(Local::default())
            .await
            .unwrap()
            .n,
        2
    );
}
