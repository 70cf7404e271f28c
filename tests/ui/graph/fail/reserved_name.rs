use langgraph::prelude::*;

#[node]
async fn __end__(n: &i64) -> i64 {
    *n
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => __end__ => END;
    };
}
