//! How often a run enters the kernel: not once per superstep.
//!
//! `strace` counts. Where it is not installed, the test says so and counts nothing.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::Command;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

/// Adds a message, which gets an id.
#[node]
async fn say(_: &Chat) -> ChatUpdate {
    ChatUpdate::default().messages(vec![Message::assistant("on and on")])
}

const TURNS: &str = "SYSTEM_CALLS_TURNS";
const SAVED: &str = "SYSTEM_CALLS_SAVED";

/// The run that is counted, in a process of its own.
#[test]
#[ignore = "started by the test that counts"]
fn a_run() {
    let turns: usize = std::env::var(TURNS).unwrap().parse().unwrap();
    let more = move |chat: &Chat| chat.messages.len() < turns;
    let again = say;
    let graph = graph! { START => again => if more { again } else { END } };
    let mut graph = graph.compile().unwrap();
    let saved = std::env::var(SAVED).is_ok();
    if saved {
        graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    }
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let run = graph.run(()).limit(turns + 1);
        let run = if saved { run.thread("t") } else { run };
        assert_eq!(run.await.unwrap().finished().unwrap().messages.len(), turns);
    });
}

/// The system calls of a run of that many turns, but for those that only get memory.
fn system_calls(turns: usize, saved: bool) -> Option<u64> {
    let counted = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command
        .args([
            "-f",
            "-c",
            "-e",
            "trace=!brk,mmap,munmap,mremap,mprotect,madvise",
            "-o",
        ])
        .arg(counted.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_run", "--ignored", "--test-threads=1"])
        .env(TURNS, turns.to_string());
    if saved {
        command.env(SAVED, "1");
    }
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("strace is not installed: nothing is counted");
            return None;
        }
        output => output.unwrap(),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("Operation not permitted") {
        eprintln!("strace may not trace here: nothing is counted");
        return None;
    }
    assert!(output.status.success(), "{said}");
    let table = std::fs::read_to_string(counted.path()).unwrap();
    let total = table.lines().find(|line| line.ends_with("total")).unwrap();
    let columns: Vec<_> = total.split_whitespace().collect();
    Some(columns[3].parse().unwrap())
}

#[test]
fn n4_a_superstep_makes_no_system_call() {
    for saved in [false, true] {
        let (Some(few), Some(many)) = (system_calls(10, saved), system_calls(1_010, saved)) else {
            return;
        };
        let more = many.saturating_sub(few);
        println!("10 supersteps: {few}, 1,010: {many} (saved: {saved})");
        assert!(
            more < 50,
            "1,000 more supersteps make {more} more system calls (saved: {saved})"
        );
    }
}
