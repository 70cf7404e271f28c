//! Every input that a thread has accepted is in its state once, whatever becomes of the interrupts that are open.

use std::sync::Arc;

use fastrand::Rng;
use langgraph::checkpoint::Durability;
use langgraph::prelude::*;
use langgraph::thread::{Keep, OnOpenInterrupt};
use langgraph_tests::ByteSaver;
use langgraph_tests::fixtures::diary::{Diary, DiaryUpdate, log_of, wrote};

#[node]
async fn ask(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let answer: String = cx.interrupt("name", "who?")?;
    if answer == "fails" {
        return Err(NodeError::msg("no such name"));
    }
    Ok(wrote(answer))
}

#[node]
async fn aside(_: &Diary) -> DiaryUpdate {
    wrote("aside")
}

#[node]
async fn close(_: &Diary) -> DiaryUpdate {
    wrote("closed")
}

fn one_of<T: Copy>(dice: &mut Rng, all: &[T]) -> T {
    all[dice.usize(..all.len())]
}

/// What is done to a thread.
#[derive(Clone, Debug)]
enum Operation {
    Run(OnOpenInterrupt, Durability),
    Update(&'static str),
    AddInput,
    Answer(&'static str),
    Proceed,
    Fork,
    ClearPending,
    Prune(usize),
    /// A copy, with which the others go on.
    Copy,
}

impl Operation {
    fn drawn(dice: &mut Rng) -> Self {
        use OnOpenInterrupt::{Dismiss, Drop, Keep as KeepOpen, Refuse};
        let durability = [Durability::Sync, Durability::Async, Durability::Exit];
        match dice.u8(..14) {
            0..6 => Self::Run(
                one_of(dice, &[Dismiss, Drop, KeepOpen, KeepOpen, Refuse]),
                one_of(dice, &durability),
            ),
            6 => Self::Update(one_of(dice, &["ask", "aside", "close"])),
            7 => Self::AddInput,
            8 => Self::Answer(one_of(dice, &["anna", "ben", "fails"])),
            9 => Self::Proceed,
            10 => Self::Fork,
            11 => Self::ClearPending,
            12 => Self::Prune(dice.usize(1..4)),
            _ => Self::Copy,
        }
    }

    /// Does it to the thread of that name. Returns true if that was accepted with the line.
    async fn apply(
        &self,
        graph: &CompiledStateGraph<Diary>,
        name: &mut String,
        line: &str,
    ) -> Result<bool, AgentError> {
        let thread = graph.thread(&**name);
        match self {
            Self::Run(policy, durability) => {
                let run = thread.run(wrote(line)).on_open_interrupt(*policy);
                return match run.durability(*durability).await {
                    Err(AgentError::InterruptsOpen { .. }) => Ok(false),
                    ended => ended.map(|_| true),
                };
            }
            Self::Update(node) => {
                thread.update(wrote(line)).as_node(*node).await?;
                return Ok(true);
            }
            // The next input may replace it.
            Self::AddInput => drop(thread.add_input(wrote("added")).await?),
            // Nothing may be open, or two interrupts at once.
            Self::Answer(answer) => drop(thread.answer(answer).await),
            Self::Proceed => drop(thread.proceed().await),
            Self::Fork => drop((thread.fork().await?, thread.proceed().await?)),
            Self::ClearPending => drop(thread.clear_pending().await?),
            Self::Prune(newest) => drop(thread.prune(Keep::Newest(*newest)).await?),
            Self::Copy => {
                let copy = format!("copy at {line}");
                thread.copy(&copy).await?;
                *name = copy;
            }
        }
        Ok(false)
    }
}

#[test]
fn an_accepted_input_stays_once_whatever_becomes_of_open_interrupts() {
    super::play(300, async |dice| {
        let graph = graph! { START => [ask, aside] => close => END };
        let graph = graph.compile().unwrap();
        let graph = graph.checkpointer(Arc::new(ByteSaver::default()));
        let mut name = "t".to_owned();
        graph.thread("t").run(wrote("line 0")).await.unwrap();
        let mut accepted = vec!["line 0".to_owned()];
        let mut story = Vec::new();
        for number in 1..12 {
            let line = format!("line {number}");
            let operation = Operation::drawn(dice);
            story.push(operation.clone());
            match operation.apply(&graph, &mut name, &line).await {
                Ok(true) => accepted.push(line),
                Ok(false) => {}
                Err(error) => panic!("{error} after {story:?}"),
            }
            let log = log_of(&graph, &name).await;
            for line in &accepted {
                let times = log.iter().filter(|found| *found == line).count();
                assert_eq!(times, 1, "{line} after {story:?}: {log:?}");
            }
        }
    });
}
