use langgraph::prelude::*;

// Only rustc's own error: the graph says nothing about what these may name.
#[node]
async fn plan(n: &i64) -> Missing {
    *n
}

#[node]
async fn look(n: &i64, _: &Context) -> Result<Missing, NodeError> {
    Ok(*n)
}

async fn search(n: &i64) -> Missing {
    *n
}

#[node]
async fn work(item: u8) -> Missing {
    item
}

fn items(_: &i64) -> Vec<u8> {
    Vec::new()
}

fn main() {
    let _ = graph! {
        type State = i64;

        let search = search.retry(3);

        START => plan => look => search => END;
        START => for item in items { work(item) } => END;
    };
}
