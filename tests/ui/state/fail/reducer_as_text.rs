use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer("append")]
    log: Vec<String>,
    #[reducer = "append"]
    other: Vec<String>,
    #[reducer]
    third: Vec<String>,
    #[reducer()]
    fourth: Vec<String>,
}

fn main() {}
