use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn shout(text: &Plain<String>) -> Plain<String> {
    text.clone()
}

fn main() {
    let _ = graph! {
        START => plan => shout => END;
    };
}
