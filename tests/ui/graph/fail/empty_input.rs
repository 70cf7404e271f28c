use langgraph::prelude::*;

fn main() {
    let _ = graph! {
        type State = i64;


    };
}
