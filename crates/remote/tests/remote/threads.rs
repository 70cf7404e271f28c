//! Remote nodes beside others, and on threads.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_remote::{
    AgentEnvelope, AgentHandler, EnvelopeBody, RemoteError, RemoteNode, Transport, serve,
};
use serde_json::json;

use crate::mail::*;

/// START → mail, weather (remote), note (local) → summarise.
fn fan_out(network: impl Transport) -> StateGraph<Assistant> {
    let network: Arc<dyn Transport> = Arc::new(network);
    let mail = RemoteNode::new("mail", Arc::clone(&network));
    let weather = RemoteNode::new("weather", network);
    let mut graph = StateGraph::new();
    graph
        .add_node("mail", mail.bind(mail_request, mail_result))
        .add_node(
            "weather",
            weather.bind(question, |sky: String| update().weather(sky)),
        )
        .add_node("note", |state: &Assistant| {
            update().summary(state.user_message.to_uppercase())
        })
        .add_node("summarise", summarise)
        .add_edge(START, "mail")
        .add_edge(START, "weather")
        .add_edge(START, "note")
        .add_edge(["mail", "weather", "note"], "summarise");
    graph
}

fn weather(delay: Duration) -> impl AgentHandler {
    move |_: AgentEnvelope| async move {
        tokio::time::sleep(delay).await;
        EnvelopeBody::Complete(json!("rain"))
    }
}

#[tokio::test(start_paused = true)]
async fn remote_nodes_run_side_by_side() {
    let network = local("weather", weather(Duration::from_secs(1)));
    network.register("mail", move |request: AgentEnvelope| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let request: MailRequest = request.payload().unwrap();
        assert_eq!(request, MailRequest::List);
        EnvelopeBody::Complete(json!({"Inbox": ["lunch"]}))
    });
    let graph = fan_out(network).compile().unwrap();
    let input = says("hi").mail_request(Some(MailRequest::List));
    let before = tokio::time::Instant::now();
    let state = graph.invoke(input).await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_secs(1));
    assert_eq!((&*state.weather, &*state.summary), ("rain", "HI"));
    assert_eq!(state.reply_to_user.as_deref(), Some("1 mails"));
}

#[tokio::test]
async fn a_resumed_run_does_not_ask_again() {
    let network = local("mail", mail_agent());
    network.register("weather", weather(Duration::ZERO));
    let tap = Tap::new(network);
    let mut graph = fan_out(tap.clone());
    graph
        .add_node("approve", |_: &Assistant, cx: &Context| {
            let name: String = cx.interrupt("approve", "send it?")?;
            Ok::<_, NodeError>(says(name))
        })
        .add_edge(START, "approve");
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let input = update().mail_request(Some(MailRequest::List));
    let outcome = graph.run(input).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    assert_eq!(tap.seen().len(), 4);

    let outcome = graph.thread("t").resume("approve", "Ann").await.unwrap();
    assert!(outcome.is_done());
    let state = outcome.finished().unwrap();
    assert_eq!(state.user_message, "Ann");
    assert_eq!(
        (&*state.weather, state.reply_to_user.as_deref()),
        ("rain", Some("2 mails"))
    );
    assert_eq!(tap.seen().len(), 4, "answered requests were sent again");
}

#[tokio::test]
async fn after_a_failure_answered_requests_are_not_sent_again() {
    let network = local("mail", mail_agent());
    let tap = Tap::new(network.clone());
    let graph = fan_out(tap.clone())
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let input = update().mail_request(Some(MailRequest::List));
    let error = graph.run(input).thread("t").await.unwrap_err();
    assert!(matches!(
        remote_error(&error),
        RemoteError::UnknownAgent { .. }
    ));
    network.register("weather", weather(Duration::ZERO));
    let outcome = graph.thread("t").proceed().await.unwrap();
    assert_eq!(
        outcome.finished().unwrap().reply_to_user.as_deref(),
        Some("2 mails")
    );
    let mail = tap.seen().into_iter().filter(|e| e.to == "mail").count();
    assert_eq!(mail, 1);
}

#[tokio::test]
async fn interrupts_of_an_agent_with_equal_and_numbered_keys_get_an_answer_each() {
    #[derive(State, Clone, Debug, Default, PartialEq)]
    struct Answers {
        #[reducer(append)]
        given: Vec<String>,
    }
    let asks = |key: &'static str| {
        move |_: &Answers, cx: &Context| {
            let given: String = cx.interrupt(key, "?")?;
            Ok::<_, NodeError>(AnswersUpdate::default().given(vec![given]))
        }
    };
    // An agent that has asked another one numbers equal keys itself.
    let mut agent = StateGraph::<Answers>::new();
    for (name, key) in [("a", "ok"), ("b", "ok"), ("c", "ok#2")] {
        agent.add_node(name, asks(key)).add_edge(START, name);
    }
    let agent = agent.compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let served = serve(
        agent,
        |_: String| AnswersUpdate::default(),
        |state| state.given,
    );
    let ask = RemoteNode::new("asker", local("asker", served.conversations()));
    let ask = ask.bind(
        |text: &String| Some(text.clone()),
        |given: Vec<String>| given.join(" "),
    );
    let mut graph = StateGraph::<String>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    let graph = graph.compile().unwrap();
    let thread = graph.checkpointer(Arc::new(MemorySaver::new())).thread("t");

    let mut outcome = thread.run("go".to_owned()).await.unwrap();
    for answer in ["one", "two", "three"] {
        assert_eq!(outcome.interrupts().len(), 1, "{outcome:?}");
        outcome = thread.answer(answer).await.unwrap();
    }
    assert_eq!(outcome.finished().unwrap(), "one two three");
}
