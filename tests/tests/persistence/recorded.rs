//! Times and random numbers that a task keeps when it runs again.

use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_tests::open_saver;

/// What each attempt has got.
static SEEN: Mutex<Vec<Got>> = Mutex::new(Vec::new());

#[derive(Clone, Debug, PartialEq)]
struct Got {
    now: SystemTime,
    random: [u64; 2],
    uuid: String,
}

async fn draw(_: &String, cx: &Context) -> Result<String, NodeError> {
    let got = Got {
        now: cx.now().await?,
        random: [cx.random().await?, cx.random().await?],
        uuid: cx.uuid().await?.to_string(),
    };
    SEEN.lock().unwrap().push(got.clone());
    if cx.attempt() == 1 {
        return Err(NodeError::msg("the first attempt fails"));
    }
    let answer: String = cx.interrupt("go on?", "")?;
    Ok(format!("{answer} {}", got.uuid))
}

#[tokio::test]
async fn times_and_random_numbers_are_the_same_after_a_retry_and_an_answer() {
    let began = SystemTime::now();
    let retry = RetryPolicy::attempts(2).retry_on(|_| true).immediately();
    let mut graph = StateGraph::<String>::new();
    graph
        .add_node("draw", draw.retry(retry))
        .add_sequence(&["draw"]);
    let saver = open_saver("bytes").await.unwrap().saver;
    let graph = graph.compile().unwrap().checkpointer(saver);
    let thread = graph.thread("t");
    thread.run(String::new()).await.unwrap();
    let state = thread.resume("go on?", "yes").await.unwrap();
    let state = state.finished().unwrap();

    // Two attempts, and those after the answer.
    let seen = SEEN.lock().unwrap();
    assert!(seen.len() > 2);
    assert!(seen.iter().all(|got| *got == seen[0]), "{seen:?}");
    let first = &seen[0];
    assert_eq!(state, format!("yes {}", first.uuid));
    assert!(first.now >= began - Duration::from_secs(1) && first.now <= SystemTime::now());
    assert_ne!(first.random[0], first.random[1]);
    assert_eq!(&first.uuid[14..15], "4");
}

#[tokio::test]
async fn tasks_side_by_side_draw_numbers_of_their_own() {
    #[derive(State, Clone, Debug, Default)]
    struct Dice {
        #[reducer(append)]
        rolls: Vec<u64>,
    }

    async fn roll(_: &Dice, cx: &Context) -> Result<DiceUpdate, NodeError> {
        let (first, second) = tokio::try_join!(cx.random(), cx.random())?;
        Ok(DiceUpdate::default().rolls(vec![first, second]))
    }

    let mut graph = StateGraph::<Dice>::new();
    for node in ["left", "right"] {
        graph.add_node(node, roll).add_edge(START, node);
    }
    let mut rolls = graph.compile().unwrap().invoke(()).await.unwrap().rolls;
    rolls.sort_unstable();
    rolls.dedup();
    assert_eq!(rolls.len(), 4);
}
