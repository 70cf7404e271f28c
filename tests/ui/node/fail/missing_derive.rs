// rustc tells each mention of a type that does not exist, and a method whose type needs a state. The rest
// is told once by a graph and by each of its decisions and maps: neither nodes nor mentions say more.

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

async fn plain(chat: &Chat) -> Result<ChatUpdate, NodeError> {
    Ok(ChatUpdate::default().log(vec![format!("{}", chat.log.len())]))
}

#[node]
async fn work(n: i64, chat: &Chat) -> Result<ChatUpdate, NodeError> {
    Ok(ChatUpdate::default().log(vec![format!("{n} {}", chat.log.len())]))
}

fn items(chat: &Chat) -> Vec<i64> {
    vec![1; chat.log.len()]
}

fn done(chat: &Chat) -> bool {
    chat.log.len() > 3
}

fn larger() {
    let _ = graph! {
        START => plan => if done { END } else { plain };
        plain => for n in items { work(n) } => END;
    };
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = graph! { START => plan => act => END };
    let chat = graph.compile()?.invoke(ChatUpdate::default()).await?;
    println!("{}", chat.log.len());
    Ok(())
}
