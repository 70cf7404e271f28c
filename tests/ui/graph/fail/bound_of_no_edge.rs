use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn search(n: &i64) -> i64 {
    *n
}

#[node]
async fn check(n: &i64) -> i64 {
    *n
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => [plan, search] => check at_most 3 => END;
    };
    let _ = graph! {
        type State = i64;

        START => plan;
        plan at_most 3 => END;
    };
}
