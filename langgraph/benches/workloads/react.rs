//! A model that requests a tool, a hundred times.

use std::sync::Arc;

use langgraph::message::ToolCall;
use langgraph::node::NodeRun;
use langgraph::prelude::*;

use super::measure::{Pair, work};

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Chat {
    #[reducer(add_messages)]
    pub(crate) messages: Vec<Message>,
}

/// Requests the tool until the history is long enough, then answers.
pub(crate) async fn model(state: &Chat, turns: usize) -> ChatUpdate {
    let message = if state.messages.len() < 2 * turns {
        let call = ToolCall::new("call", "add", serde_json::Value::Null);
        Message::assistant_with_tool_calls("", [call])
    } else {
        Message::assistant("done")
    };
    ChatUpdate::default().messages(vec![message])
}

pub(crate) async fn tool(state: &Chat) -> ChatUpdate {
    let calls = state.messages.last().map_or(&[][..], Message::tool_calls);
    let results = calls.iter().map(|call| Message::tool(&call.id, "5"));
    ChatUpdate::default().messages(results.collect())
}

pub(crate) fn wants_tool(state: &Chat) -> bool {
    state
        .messages
        .last()
        .is_some_and(|message| !message.tool_calls().is_empty())
}

pub(crate) fn graph(turns: usize) -> StateGraph<Chat> {
    let model = Model { turns };
    graph! {
        type State = Chat;
        START => model => if wants_tool { tool => model } else { END };
    }
}

pub(crate) struct Model {
    turns: usize,
}

impl Node<Chat> for Model {
    fn run<'a>(&'a self, state: &'a Chat, _: &'a Context) -> NodeRun<'a, Chat> {
        NodeRun::future(model(state, self.turns))
    }

    fn may_goto(&self) -> bool {
        false
    }
}

pub(crate) fn input() -> ChatUpdate {
    ChatUpdate::default().messages(vec![Message::user("What is 2 + 3?")])
}

type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type Step = Box<dyn for<'a> Fn(&'a Chat) -> BoxFuture<'a, ChatUpdate> + Send + Sync>;

/// The same conversation, as a loop over boxed futures.
#[derive(Clone)]
pub(crate) struct ByHand {
    model: Arc<Step>,
    tool: Arc<Step>,
    router: Arc<dyn Fn(&Chat) -> bool + Send + Sync>,
}

impl ByHand {
    pub(crate) fn new(turns: usize) -> Self {
        Self {
            model: Arc::new(Box::new(move |state| Box::pin(model(state, turns)))),
            tool: Arc::new(Box::new(|state| Box::pin(tool(state)))),
            router: Arc::new(wants_tool),
        }
    }

    pub(crate) async fn run(self, mut state: Chat, mut input: ChatUpdate) -> Chat {
        state.prepare(&mut input);
        state.try_merge(input).unwrap();
        loop {
            let mut update = (self.model)(&state).await;
            state.prepare(&mut update);
            state.try_merge(update).unwrap();
            if !(self.router)(&state) {
                return state;
            }
            let mut update = (self.tool)(&state).await;
            state.prepare(&mut update);
            state.try_merge(update).unwrap();
        }
    }
}

/// `turns` tool turns without a saver.
pub(crate) fn turns(turns: usize) -> Pair {
    let graph = graph(turns).compile().unwrap();
    let by_hand = ByHand::new(turns);
    let expected = 2 * turns + 2;
    let langgraph = work(move || {
        let graph = graph.clone();
        async move {
            let state = graph.invoke(input()).await.unwrap();
            assert_eq!(state.messages.len(), expected);
        }
    });
    let baseline = work(move || {
        let by_hand = by_hand.clone();
        async move {
            let state = by_hand.run(Chat::default(), input()).await;
            assert_eq!(state.messages.len(), expected);
        }
    });
    Pair::new("ReAct turns", turns, langgraph, baseline).target(1.5)
}
