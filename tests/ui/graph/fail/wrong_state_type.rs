use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn shout(text: &String) -> String {
    text.to_uppercase()
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => shout => END;
    };
}
