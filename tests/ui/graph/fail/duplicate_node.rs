use langgraph::prelude::*;

mod first {
    #[langgraph::node]
    pub async fn plan(n: &i64) -> i64 {
        *n
    }
}

mod second {
    #[langgraph::node]
    pub async fn plan(n: &i64) -> i64 {
        *n
    }
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => first::plan => second::plan => END;
    };
}
