use langgraph::prelude::*;

struct Handle;

impl Clone for Handle {
    fn clone(&self) -> Self {
        Self
    }
}

impl Default for Handle {
    fn default() -> Self {
        Self
    }
}

#[derive(State, Clone, Default)]
struct Notes {
    #[state(alias = "count", alias = "first")]
    first: i64,
    #[state(alias = "old")]
    count: i64,
    #[state(alias = "old")]
    third: i64,
    #[state(alias = fourth)]
    fourth: i64,
    #[state(untracked, alias = "handle")]
    client: Handle,
}

fn main() {
    let _ = StateGraph::<Notes>::new();
}
