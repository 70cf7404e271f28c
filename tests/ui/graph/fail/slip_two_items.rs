use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

fn items(n: &i64) -> Vec<i64> {
    vec![*n]
}

#[node]
async fn work(item: i64, n: &i64) -> i64 {
    item + n
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => for item in items { work(item, 3) } => END;
    };
}
