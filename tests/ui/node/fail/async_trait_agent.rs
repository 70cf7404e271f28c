use langgraph::async_trait;
use langgraph::prelude::*;

struct Echo;

#[async_trait]
impl Agent for Echo {
    type State = i64;

    fn name(&self) -> &str {
        "echo"
    }

    async fn run(&self, state: i64) -> Result<i64, AgentError> {
        Ok(state)
    }
}

fn main() {}
