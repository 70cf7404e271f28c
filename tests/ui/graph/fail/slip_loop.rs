use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => loop { plan };
    };
}
