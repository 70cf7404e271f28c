use langgraph::async_trait;
use langgraph::prelude::*;

struct Echo;

#[async_trait]
impl Node<i64> for Echo {
    fn id(&self) -> &str {
        "echo"
    }

    async fn run(&self, state: i64) -> Result<i64, AgentError> {
        Ok(state)
    }
}

fn main() {}
