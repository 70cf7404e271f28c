use langgraph::prelude::*;
use langgraph::state::PlainUpdate;

#[node]
async fn plan(n: &i64) -> Result<Command<i64>, NodeError> {
    Ok(Command::update(PlainUpdate(Some(n + 1))).and_goto("search"))
}

async fn search(_: &i64) -> Next {
    Next::End
}

struct Review;

#[node]
impl Review {
    async fn run(&self, n: &i64) -> (i64, Next) {
        (*n, Next::Continue)
    }
}

// It names no targets, so it needs no line.
#[node]
async fn count(n: &i64) -> Result<i64, NodeError> {
    Ok(*n)
}

fn main() {
    let review = Review;
    let look = |_: &i64| vec![Command::<i64>::goto("count")];
    let _ = graph! {
        type State = i64;

        START => plan => search => review => look => count => END;
    };

    let review = Review;
    let look = |_: &i64| vec![Command::<i64>::goto("count")];
    let _ = graph! {
        type State = i64;

        START => plan => search => review => look => count => END;
        plan => goto [search];
        search => goto [END];
        review => goto [END];
        look => goto [count];
    };
}
