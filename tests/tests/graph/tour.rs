//! The first page of the documentation, as a test: state, nodes and a graph, all declared.

use std::sync::Arc;

use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
#[allow(clippy::struct_field_names)] // a state of jokes has jokes
struct Jokes {
    topics: Vec<String>,
    #[reducer(append)]
    jokes: Vec<String>,
    best: Option<String>,
    rounds: u32,
}

#[node]
async fn plan(_state: &Jokes) -> JokesUpdate {
    JokesUpdate::default().topics(vec!["cats".into(), "dogs".into(), "crabs".into()])
}

#[node]
async fn write_joke(topic: String) -> JokesUpdate {
    JokesUpdate::default().jokes(vec![format!("a joke about {topic}")])
}

#[node]
async fn judge(state: &Jokes, cx: &Context) -> Result<JokesUpdate, NodeError> {
    let prefix = cx.resource::<String>()?;
    let best = state.jokes.iter().max_by_key(|joke| joke.len()).cloned();
    Ok(JokesUpdate::default()
        .best(best.map(|joke| format!("{prefix}{joke}")))
        .rounds(state.rounds + 1))
}

enum Verdict {
    Again,
    Enough,
}

fn verdict(state: &Jokes) -> Verdict {
    if state.rounds < 2 {
        Verdict::Again
    } else {
        Verdict::Enough
    }
}

#[tokio::test]
async fn d6_a_map_a_loop_and_a_decision() -> Result<(), Box<dyn std::error::Error>> {
    fn topics(state: &Jokes) -> Vec<String> {
        state.topics.clone()
    }
    let graph = graph! {
        type State = Jokes;

        let judge = judge.retry(3);

        START => plan
            => for topic in topics { write_joke(topic) }
            => judge
            => match verdict {
                Verdict::Again => plan,
                Verdict::Enough => END,
            };
    }
    .compile()?;
    let state = graph
        .run(())
        .resource(Arc::new("best: ".to_owned()))
        .await?
        .finished()?;
    assert_eq!(state.jokes.len(), 6);
    assert_eq!(state.best.as_deref(), Some("best: a joke about crabs"));
    Ok(())
}

#[tokio::test]
async fn d5_a_chain() -> Result<(), Box<dyn std::error::Error>> {
    #[node]
    async fn add(n: &i64) -> i64 {
        n + 1
    }
    let second = add;
    assert_eq!(
        graph! { type State = i64; START => add => second => END }
            .compile()?
            .invoke(1)
            .await?,
        3
    );
    Ok(())
}
