//! A call of a graph of one node gives the same, whether its run is observed or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph::run::Outcome;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Inner {
    #[reducer(append)]
    log: Vec<String>,
    once: String,
    step: usize,
}

type Answer = Result<(InnerUpdate, Next), NodeError>;

/// What the node does, by the name of the case.
fn act(case: &str, tries: &AtomicU32, state: &Inner, cx: &Context) -> Answer {
    let update = InnerUpdate::default()
        .log(vec![format!("{case} {}", state.once)])
        .step(cx.step());
    match case {
        "tries again" if tries.fetch_add(1, Ordering::SeqCst) == 0 => Err(NodeError::msg("once")),
        "updates" | "tries again" => Ok((update, Next::Continue)),
        "keeps" => Ok((update.once("mine".to_owned()), Next::Continue)),
        "ends" => Ok((update, Next::End)),
        "goes nowhere" => Ok((update, Next::node("nowhere"))),
        "fails" => Err(NodeError::msg("it broke")),
        "panics" => panic!("it panicked"),
        _ => {
            let sure: bool = cx.interrupt("sure", &case)?;
            Ok((update.once(sure.to_string()), Next::Continue))
        }
    }
}

fn inner(case: &'static str) -> CompiledStateGraph<Inner> {
    let tries = Arc::new(AtomicU32::new(0));
    let node = move |state: &Inner, cx: &Context| act(case, &tries, state, cx);
    let mut graph = StateGraph::<Inner>::new();
    let retry = RetryPolicy::attempts(2).initial_interval(std::time::Duration::ZERO);
    if case == "tries again" {
        graph.add_node("only", node.retry(retry));
    } else {
        graph.add_node("only", node);
    }
    graph.add_edge(START, "only");
    graph.compile().unwrap()
}

#[derive(State, Clone, Debug, Default)]
struct Outer {
    got: Option<Inner>,
}

struct Calls(CompiledStateGraph<Inner>);

#[node]
impl Calls {
    async fn run(&self, _: &Outer, cx: &Context) -> Result<OuterUpdate, NodeError> {
        let input = InnerUpdate::default().once("given".to_owned());
        let got = cx.run(&self.0, input).await?;
        Ok(OuterUpdate::default().got(Some(got)))
    }
}

fn outer(case: &'static str) -> CompiledStateGraph<Outer> {
    let mut graph = StateGraph::<Outer>::new();
    graph
        .add_node("call", Calls(inner(case)))
        .add_sequence(&["call"]);
    graph.compile().unwrap()
}

fn shown(outcome: Result<Outcome<Outer>, AgentError>) -> String {
    match outcome {
        Ok(outcome) => {
            let open: Vec<_> = outcome
                .interrupts()
                .iter()
                .map(|open| &open.payload)
                .collect();
            format!("{:?} {open:?}", outcome.state().got)
        }
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_call_of_one_node_is_the_same_with_and_without_a_reader_of_its_run() {
    for case in [
        "updates",
        "keeps",
        "ends",
        "goes nowhere",
        "fails",
        "panics",
        "tries again",
        "asks",
    ] {
        let alone = shown(outer(case).run(()).await);
        let observed = outer(case).run(()).stream(StreamMode::Tasks);
        let observed = shown(observed.finish().await);
        assert_eq!(alone, observed, "{case}");
    }
}

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Brief {
    #[state(ephemeral)]
    given: String,
    #[state(ephemeral)]
    made: String,
}

#[derive(State, Clone, Debug, Default)]
struct AroundBrief {
    got: Option<Brief>,
}

struct CallsBrief(CompiledStateGraph<Brief>);

#[node]
impl CallsBrief {
    async fn run(&self, _: &AroundBrief, cx: &Context) -> Result<AroundBriefUpdate, NodeError> {
        let input = BriefUpdate::default().given("in".to_owned());
        let got = cx.run(&self.0, input).await?;
        Ok(AroundBriefUpdate::default().got(Some(got)))
    }
}

#[tokio::test]
async fn a_field_of_one_superstep_is_gone_after_a_call_of_one_node() {
    let mut inner = StateGraph::<Brief>::new();
    inner
        .add_node("only", |brief: &Brief| {
            BriefUpdate::default().made(format!("from {}", brief.given))
        })
        .add_sequence(&["only"]);
    let mut graph = StateGraph::<AroundBrief>::new();
    graph
        .add_node("call", CallsBrief(inner.compile().unwrap()))
        .add_sequence(&["call"]);
    let graph = graph.compile().unwrap();
    let expected = Brief {
        given: String::new(),
        made: "from in".to_owned(),
    };
    let alone = graph.run(()).await.unwrap().finished().unwrap();
    assert_eq!(alone.got.as_ref(), Some(&expected));
    let observed = graph.run(()).stream(StreamMode::Tasks).finish().await;
    assert_eq!(observed.unwrap().state().got, Some(expected));
}
