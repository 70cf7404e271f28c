//! A state that gets so many fields that its updates are lists, and loses one again: its threads go on.

use std::sync::Arc;

use langgraph_tests::ByteSaver;

/// A state of 32 fields and these, and a run on thread `t`.
macro_rules! growing {
    ($module:ident { $($more:ident)* }) => {
        mod $module {
            use std::sync::Arc;

            use langgraph::prelude::*;
            use langgraph_tests::ByteSaver;

            #[derive(State, Clone, Debug, Default)]
            struct Growing {
                #[reducer(append)]
                log: Vec<usize>,
                last: String,
                a0: u8, a1: u8, a2: u8, a3: u8, a4: u8, a5: u8, a6: u8, a7: u8, a8: u8, a9: u8,
                b0: u8, b1: u8, b2: u8, b3: u8, b4: u8, b5: u8, b6: u8, b7: u8, b8: u8, b9: u8,
                c0: u8, c1: u8, c2: u8, c3: u8, c4: u8, c5: u8, c6: u8, c7: u8, c8: u8, c9: u8,
                $($more: u8,)*
            }

            #[node]
            async fn note(state: &Growing) -> GrowingUpdate {
                let update = GrowingUpdate::default().log(vec![state.log.len()]);
                update.last(stringify!($module).to_owned()).c9(state.c9 + 1)
            }

            pub(super) async fn run(saver: &Arc<ByteSaver>) -> (Vec<usize>, String, u8) {
                let graph = graph! { START => note => END };
                let graph = graph.compile().unwrap().checkpointer(Arc::clone(saver));
                let state = graph.run(()).thread("t").await.unwrap().finished().unwrap();
                let history = graph.thread("t").history().await.unwrap();
                assert!(history.iter().any(|at| at.values.log.is_empty()));
                (state.log, state.last, state.c9)
            }
        }
    };
}

growing!(few {});
growing!(many { d0 });

#[tokio::test]
async fn a_thread_goes_on_when_its_state_gets_many_fields_and_when_it_loses_one() {
    let saver = Arc::new(ByteSaver::default());
    assert_eq!(few::run(&saver).await, (vec![0], "few".to_owned(), 1));
    assert_eq!(many::run(&saver).await, (vec![0, 1], "many".to_owned(), 2));
    assert_eq!(few::run(&saver).await, (vec![0, 1, 2], "few".to_owned(), 3));
}
