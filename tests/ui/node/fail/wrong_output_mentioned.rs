//! A wrong answer is told where the node is defined, and not again where it is mentioned.

use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    log: Vec<String>,
}

#[node]
async fn plan(_: &Notes) -> Vec<String> {
    vec![]
}

#[node]
async fn fallible(_: &Notes, _: &Context) -> Result<NotesUpdate, String> {
    Ok(NotesUpdate::default())
}

struct Team;

#[node]
impl Team {
    #[node]
    async fn check(_: &Notes) -> u8 {
        1
    }
}

fn main() {
    let mut built = StateGraph::<Notes>::new();
    built
        .add_node("plan", plan)
        .add_node("fallible", fallible.alias("old"))
        .add_node("check", Team::check);
    let _ = graph! { START => plan => fallible => END };
    let _ = graph! { START => fallible => plan => END };
}
