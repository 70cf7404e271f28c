// rustc tells each mention of a type that does not exist, and each method whose type needs a state. The
// rest is told once, by the graph: neither the nodes nor their mentions in it say more.

use langgraph::prelude::*;

#[derive(Clone, Default)]
struct Chat {
    log: Vec<String>,
}

#[node]
async fn plan(chat: &Chat) -> ChatUpdate {
    ChatUpdate::default().log(vec![format!("{}", chat.log.len())])
}

#[node]
async fn act(chat: &Chat) -> Result<ChatUpdate, NodeError> {
    Ok(ChatUpdate::default().log(vec![format!("{}", chat.log.len())]))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = graph! { START => plan => act => END };
    let chat = graph.compile()?.invoke(ChatUpdate::default()).await?;
    println!("{}", chat.log.len());
    Ok(())
}
