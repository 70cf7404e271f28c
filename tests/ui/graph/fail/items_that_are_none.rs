use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

fn count(n: &i64) -> i64 {
    *n
}

#[node]
async fn work(item: i64, n: &i64) -> i64 {
    item + n
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => for item in count { work(item) } => END;
    };
}
