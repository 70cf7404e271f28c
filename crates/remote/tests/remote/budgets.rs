//! What agents may spend, and who pays for it.

use std::sync::Arc;

use langgraph::prelude::*;
use langgraph_agent::{Account, Amounts, AtLimit, Budget, BudgetItem, Prices};
use langgraph_remote::{
    AgentEnvelope, Allowance, EnvelopeBody, LocalNetwork, RemoteError, RemoteNode, ReplyStream,
    StreamContent, Transport, async_trait, serve,
};

fn tokens(amount: u64) -> Amounts {
    Amounts::default().with(BudgetItem::Tokens, amount)
}

fn asking(transport: impl Transport, budget: &Arc<Budget>) -> CompiledStateGraph<String> {
    let ask = RemoteNode::new("agent", transport);
    let ask = ask.bind(|text: &String| Some(text.clone()), |reply: String| reply);
    let mut graph = StateGraph::<String>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    graph.compile().unwrap().resource(Arc::clone(budget))
}

fn budget() -> Budget {
    Budget::by(|_| "ada".to_owned())
}

async fn account(budget: &Budget) -> Account {
    budget.account("ada").await.unwrap()
}

/// Says in each part of its reply what it has spent so far: 100 tokens, then 150, then 100 again, as a late
/// part would.
struct Teller;

#[async_trait]
impl Transport for Teller {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let stream_id = || "s".into();
        let start = EnvelopeBody::StreamStart {
            stream_id: stream_id(),
            metadata: StreamContent::Text.metadata(),
        };
        let chunk = || EnvelopeBody::StreamChunk {
            stream_id: stream_id(),
            chunk: "x".into(),
        };
        let end = EnvelopeBody::StreamEnd {
            stream_id: stream_id(),
        };
        let parts = [
            (start, 100),
            (chunk(), 100),
            (chunk(), 150),
            (chunk(), 100),
            (end, 150),
        ];
        let parts = parts.map(|(body, spent)| {
            let mut part = request.reply(body);
            part.spent = Some(tokens(spent));
            Ok(part)
        });
        Ok(ReplyStream::new(futures_util::stream::iter(parts)))
    }
}

#[tokio::test]
async fn a_bill_that_comes_twice_is_paid_once() {
    let budget = Arc::new(budget());
    let graph = asking(Teller, &budget);
    assert_eq!(graph.invoke("hi".to_owned()).await.unwrap(), "xxx");
    assert_eq!(account(&budget).await.spent.tokens, 150);
    graph.invoke("hi".to_owned()).await.unwrap();
    assert_eq!(account(&budget).await.spent.tokens, 300);
}

/// Replies with what it is allowed.
fn allowances() -> LocalNetwork {
    let network = LocalNetwork::new();
    network.register("agent", |request: AgentEnvelope| async move {
        let allowance = serde_json::to_string(&request.allowance);
        EnvelopeBody::Complete(allowance.unwrap_or_default().into())
    });
    network
}

#[tokio::test]
async fn an_agent_is_allowed_what_is_left() {
    let plain = Arc::new(budget());
    let graph = asking(allowances(), &plain);
    assert_eq!(graph.invoke(String::new()).await.unwrap(), "{}");

    let budget = budget()
        .tokens(1_000)
        .tool_calls(3)
        .money(2.5, Prices::new());
    let budget = Arc::new(budget.at_limit(AtLimit::Ask));
    let graph = asking(allowances(), &budget);
    let expected = r#"{"tool_calls":3,"tokens":1000,"micros":2500000}"#;
    assert_eq!(graph.invoke(String::new()).await.unwrap(), expected);
    asking(Teller, &budget).invoke(String::new()).await.unwrap();
    budget
        .allow_more("ada", BudgetItem::ToolCalls, 2)
        .await
        .unwrap();
    let expected = r#"{"tool_calls":5,"tokens":850,"micros":2500000}"#;
    assert_eq!(graph.invoke(String::new()).await.unwrap(), expected);
}

/// A budget of money needs prices where the model is called.
#[tokio::test]
async fn money_without_prices_is_refused_at_the_agent() {
    #[allow(clippy::ptr_arg)] // the state is a `String`
    #[node]
    async fn chat(_text: &String, cx: &Context) -> Result<String, NodeError> {
        use langgraph_agent::{ChatModelExt, ScriptedModel};
        let model = ScriptedModel::new(["hi"]).named("big");
        Ok(model
            .invoke(&[Message::user("hi")], cx)
            .await?
            .text()
            .into_owned())
    }
    let mut graph = StateGraph::<String>::new();
    graph.add_node("chat", chat).add_sequence(&["chat"]);
    let network = LocalNetwork::new();
    let agent = serve(graph.compile().unwrap(), |text: String| text, |state| state);
    network.register("agent", agent);
    let budget = Arc::new(budget().money(1.0, Prices::new()));
    let error = asking(network.clone(), &budget).invoke(String::new()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("there is none of `big`"), "{error}");

    let request = AgentEnvelope::request("me", "agent", "hi").unwrap();
    let request = request.with_allowance(Allowance::new().with(BudgetItem::Tokens, 5_000));
    let mut reply = network.request(request).await.unwrap();
    let part = reply.next().await.unwrap().unwrap();
    assert_eq!(part.body, EnvelopeBody::Complete("hi".into()));
    assert_eq!(part.spent.unwrap().model_calls, 1);
}
