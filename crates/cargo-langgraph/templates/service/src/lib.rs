//! A chat behind LangGraph's HTTP interface, with the Studio as its page.

use langgraph::graph::CompilationErrors;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::Server;

/// A model that needs no key and no network. Put a model of `langgraph-genai`, or one of your own, in
/// its place.
struct Offline;

#[async_trait]
impl ChatModel for Offline {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let last = request.messages.last();
        let text = last.map(|message| message.text().into_owned());
        let reply = format!("You said: {}", text.unwrap_or_default());
        Ok(ChatResponse::new(Message::assistant(reply)))
    }
}

#[node]
async fn chat(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let model = cx.model()?;
    let reply = model.invoke(&state.messages, cx).await?;
    Ok(MessagesStateUpdate::default().messages(vec![reply]))
}

/// Returns the graph. `cargo langgraph dev` serves it too.
pub fn chat_graph() -> Result<CompiledStateGraph<MessagesState>, CompilationErrors> {
    let graph = graph! {
        type State = MessagesState;

        START => chat => END;
    };
    graph.compile().map(|graph| graph.model(Offline))
}

/// Returns the server with its graphs, which has no database yet.
pub fn server() -> Result<Server, CompilationErrors> {
    Ok(Server::new().graph("chat", chat_graph()?))
}
