use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn search(n: &i64) -> i64 {
    *n
}

fn items(n: &i64) -> Vec<i64> {
    vec![*n]
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => for item in items { search(item) } => END;
    };
}
