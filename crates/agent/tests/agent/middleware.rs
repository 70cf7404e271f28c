//! Middleware around ready-made agents.

use std::sync::{Arc, Mutex};

use langgraph::node::NodeRun;
use langgraph::policy::{Middleware, NodeCall};
use langgraph::prelude::*;
use langgraph_agent::{
    MessagesStateUpdate, ReactAgent, ScriptedModel, SimpleAgent, SimpleAgentState, ToolAgent,
    ToolAgentState, Turn, react_agent,
};

use super::flows::{Chat, ChatUpdate};
use super::support::{asks_the_time, clock};

/// Writes down the nodes that run.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<Vec<String>>>);

impl<S: State> Middleware<S> for Names {
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
        self.0.lock().unwrap().push(call.node().to_owned());
        call.run()
    }
}

impl Names {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn model() -> ScriptedModel {
    ScriptedModel::new([asks_the_time("c1"), Turn::text("Noon.")])
}

#[tokio::test]
async fn ready_made_agents_run_inside_middleware() {
    let names = Names::default();
    let loops = ["agent", "tools", "agent"];

    let mut agent = react_agent(model(), (clock(),)).into_graph().unwrap();
    let agent = agent.middleware(names.clone()).compile().unwrap();
    agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(names.take(), loops);

    // Over a state of one's own, too.
    let agent = ReactAgent::<Chat>::new(model(), (clock(),));
    let question = ChatUpdate::default().messages(vec![Message::user("?")]);
    let mut agent = agent.into_graph().unwrap();
    let agent = agent.middleware(names.clone()).compile().unwrap();
    agent.invoke(question).await.unwrap();
    assert_eq!(names.take(), loops);

    let agent = ToolAgent::new(model(), (clock(),)).middleware(names.clone());
    agent.run(ToolAgentState::user("?")).await.unwrap();
    assert_eq!(names.take(), loops);

    let agent = SimpleAgent::new(ScriptedModel::new(["Hi."])).middleware(names.clone());
    agent.run(SimpleAgentState::user("?")).await.unwrap();
    assert_eq!(names.take(), ["chat"]);
}
