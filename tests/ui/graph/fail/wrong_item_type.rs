use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

fn items(n: &i64) -> Vec<u32> {
    vec![*n as u32]
}

#[node]
async fn shout(item: String, n: &i64) -> i64 {
    item.len() as i64 + n
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => for item in items { shout(item) } => END;
    };
}
