//! Options of a tool node and policies of its node in every order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::{ConfiguredNode, IntoNode};
use langgraph::message::ToolCall;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    ApprovalRequest, Budget, FnTool, MessagesState, MessagesStateUpdate, ToolDecision,
};
use langgraph_remote::{LocalNetwork, RemoteNode, serve};
use langgraph_tests::fixtures::lines::Boom;
use serde_json::json;

use crate::orders::orders;

#[derive(Clone, Copy, Debug)]
enum ToolOption {
    Approve,
    Keep,
    Describe,
}

#[derive(Clone, Copy, Debug)]
enum Policy {
    Retry,
    Timeout,
}

/// How often the tool began.
type Count = Arc<AtomicU32>;

/// A tool whose node fails, then never ends, then is answered.
fn flaky(count: &Count) -> FnTool {
    let count = Arc::clone(count);
    FnTool::new("pay", "Pays.", move || {
        let attempt = count.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            match attempt {
                1 => Err(ToolError::fatal(Boom("not yet"))),
                2 => std::future::pending().await,
                _ => Ok("paid"),
            }
        }
    })
}

fn tools(
    count: &Count,
    options: &[ToolOption],
    policies: &[Policy],
) -> ConfiguredNode<MessagesState> {
    let node = ToolNode::new((flaky(count),));
    let node = options.iter().fold(node, |node, option| match option {
        ToolOption::Approve => node.approve("pay"),
        ToolOption::Keep => node.keep_answers(["pay"], Duration::from_secs(3600)),
        ToolOption::Describe => node.describe_errors(|call, text| format!("{}: {text}", call.name)),
    });
    let node = node.metadata("kind", "tools");
    policies.iter().fold(node, |node, policy| match policy {
        Policy::Retry => node.retry(RetryPolicy::attempts(3).immediately()),
        Policy::Timeout => node.timeout(Duration::from_secs(1)),
    })
}

fn graph_of<K>(node: impl IntoNode<MessagesState, K>) -> CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("tools", node).add_sequence(&["tools"]);
    graph.compile().unwrap()
}

fn wants_to_pay(id: &str) -> MessagesStateUpdate {
    let call = ToolCall::new(id, "pay", json!({}));
    let message = Message::assistant_with_tool_calls("", [call]);
    MessagesStateUpdate::default().messages(vec![message])
}

fn last(outcome: &Outcome<MessagesState>) -> String {
    let last = outcome.state().messages.last().unwrap();
    last.text().into_owned()
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_is_retried_kept_and_paid_in_every_order() {
    let all = [ToolOption::Approve, ToolOption::Keep, ToolOption::Describe];
    for options in orders(&all) {
        for policies in orders(&[Policy::Retry, Policy::Timeout]) {
            for is_inside in [false, true] {
                let what = format!("{options:?}, {policies:?}, subgraph: {is_inside}");
                let count = Count::default();
                let budget = Arc::new(Budget::by(|_| "ada".to_owned()).tool_calls(100));
                let mut graph = graph_of(tools(&count, &options, &policies));
                if is_inside {
                    graph = graph_of(graph);
                }
                let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
                let graph = graph.resource(Arc::clone(&budget));
                let spent = async || budget.account("ada").await.unwrap().spent.tool_calls;

                let thread = graph.thread("first");
                let outcome = thread.run(wants_to_pay("c1")).await.unwrap();
                // An open approval is no attempt, and costs nothing.
                assert_eq!(outcome.interrupts().len(), 1, "{what}");
                assert_eq!(
                    (count.load(Ordering::SeqCst), spent().await),
                    (0, 0),
                    "{what}"
                );
                tokio::time::advance(Duration::from_secs(3)).await;
                let outcome = thread.answer(ToolDecision::Approve).await.unwrap();
                assert_eq!(last(&outcome), "paid", "{what}");
                assert_eq!(
                    (count.load(Ordering::SeqCst), spent().await),
                    (3, 3),
                    "{what}"
                );

                // An equal call needs an approval of its own; then its answer is known.
                let thread = graph.thread("second");
                let outcome = thread.run(wants_to_pay("c2")).await.unwrap();
                assert_eq!(outcome.interrupts().len(), 1, "{what}");
                let outcome = thread.answer(ToolDecision::Approve).await.unwrap();
                assert_eq!(last(&outcome), "paid", "{what}");
                assert_eq!(
                    (count.load(Ordering::SeqCst), spent().await),
                    (3, 3),
                    "{what}"
                );

                // A rejected one does not get it, and costs nothing.
                let thread = graph.thread("third");
                thread.run(wants_to_pay("c3")).await.unwrap();
                let outcome = thread.answer(ToolDecision::reject("No.")).await.unwrap();
                assert_eq!(last(&outcome), "No.", "{what}");
                assert_eq!(spent().await, 3, "{what}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_approval_stays_open_when_its_run_is_cancelled_or_drained() {
    for drains in [false, true] {
        let count = Count::default();
        let token = CancelToken::new();
        let mut graph = StateGraph::<MessagesState>::new();
        let stops = token.clone();
        let stop = move |_: &MessagesState| {
            let stops = stops.clone();
            async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if drains {
                    stops.drain();
                } else {
                    stops.cancel();
                    std::future::pending::<()>().await;
                }
                MessagesStateUpdate::default()
            }
        };
        count.store(2, Ordering::SeqCst); // the next call answers
        graph
            .add_node("tools", tools(&count, &[ToolOption::Approve], &[]))
            .add_node("stop", stop)
            .add_edge(START, "tools")
            .add_edge(START, "stop");
        let graph = graph.compile().unwrap();
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let thread = graph.thread("t");
        let ended = thread.run(wants_to_pay("c1")).cancel(token).await;
        assert_eq!(ended.is_ok(), drains, "{ended:?}");
        let state = thread.state().await.unwrap().unwrap();
        assert_eq!(state.interrupts.len(), 1, "drains: {drains}");
        assert_eq!(count.load(Ordering::SeqCst), 2);

        // The other node would wait or drain again: only the call matters here.
        let token = CancelToken::new();
        let answer = thread.answer(ToolDecision::Approve).cancel(token);
        let _ended = tokio::time::timeout(Duration::from_secs(10), answer.into_future()).await;
        assert_eq!(count.load(Ordering::SeqCst), 3);
        let state = thread.state().await.unwrap().unwrap();
        assert!(state.interrupts.is_empty(), "drains: {drains}");
    }
}

#[tokio::test]
async fn an_approval_of_a_remote_agent_is_decided_by_its_requester() {
    let count = Count::default();
    count.store(2, Ordering::SeqCst); // the next call answers
    let agent = graph_of(tools(&count, &[ToolOption::Approve], &[]));
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let served = serve(
        agent,
        |id: String| wants_to_pay(&id),
        |state: MessagesState| {
            let last = state.messages.last();
            last.map(|message| message.text().into_owned())
                .unwrap_or_default()
        },
    );
    let network = LocalNetwork::new();
    network.register("desk", served.conversations());
    let node = RemoteNode::new("desk", network)
        .bind(|text: &String| Some(text.clone()), |reply: String| reply);
    let mut graph = StateGraph::<String>::new();
    graph.add_node("ask", node).add_sequence(&["ask"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));

    let thread = graph.thread("t");
    let outcome = thread.run("c1".to_owned()).await.unwrap();
    let request = ApprovalRequest::of(&outcome.interrupts()[0]).unwrap();
    assert_eq!(request.call.name, "pay");
    assert_eq!(count.load(Ordering::SeqCst), 2);
    let answer = request.answer(ToolDecision::Approve).by("ada");
    let outcome = thread.answer(answer).await.unwrap();
    assert_eq!(outcome.finished().unwrap(), "paid");
    assert_eq!(count.load(Ordering::SeqCst), 3);
}
