use langgraph::prelude::*;

#[node]
async fn work(item: String, n: &i64) -> i64 {
    item.len() as i64 + n
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => work => END;
    };
}
