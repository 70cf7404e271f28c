use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

const LIMIT: u8 = 3;

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => LIMIT => END;
    };
}
