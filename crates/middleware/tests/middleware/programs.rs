//! Programs that a model runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    ApprovalRequest, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn, react_agent,
};
use langgraph_middleware::{Shell, ShellCommand, ShellOutput, ShellRunner};
use serde_json::json;
use tempfile::TempDir;

use super::support::{answer_of, call};

/// Notes programs, and runs none.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<ShellCommand>>>);

#[async_trait]
impl ShellRunner for Notes {
    async fn run(&self, command: ShellCommand) -> Result<ShellOutput, ToolError> {
        self.0.lock().unwrap().push(command);
        Ok(ShellOutput {
            text: "ran".to_owned(),
            code: Some(3),
        })
    }
}

async fn answer(shell: Shell, line: &str) -> String {
    answer_of(shell.without_approval(), "shell", json!({"command": line})).await
}

#[tokio::test]
async fn only_allowed_programs_run_and_only_as_words() {
    let notes = Notes::default();
    let shell = || {
        Shell::new("/scratch")
            .allow(["ls", "grep"])
            .runner(notes.clone())
    };
    let ran = answer(shell(), r#"grep -n "a b" 'c$d' e\ f notes/x"#).await;
    assert_eq!(ran, "ran\n(exit code 3)");
    let commands = std::mem::take(&mut *notes.0.lock().unwrap());
    assert_eq!(commands[0].program, "grep");
    assert_eq!(
        commands[0].arguments,
        ["-n", "a b", "c$d", "e f", "notes/x"]
    );
    assert_eq!(commands[0].folder.to_str(), Some("/scratch"));
    for (line, reason) in [
        (
            "rm x",
            "the program `rm` is not allowed (allowed: ls, grep)",
        ),
        ("", "the program `` is not allowed"),
        ("ls | grep x", "`|` is not allowed"),
        ("ls; rm x", "`;` is not allowed"),
        ("ls > x", "`>` is not allowed"),
        ("ls $(rm x)", "`$` is not allowed"),
        ("ls \"`rm x`\"", "`` ` `` is not allowed"),
        ("ls & rm x", "`&` is not allowed"),
        ("ls\nrm x", "`\\n` is not allowed"),
        ("ls 'x", "left open"),
        ("ls /etc", "leaves the folder"),
        ("ls ~root", "leaves the folder"),
        ("ls x/../../y", "leaves the folder"),
        ("grep --file=/etc/passwd x", "leaves the folder"),
    ] {
        let refused = answer(shell(), line).await;
        let reason = reason.replace("`` ` ``", "```");
        assert!(refused.contains(&reason), "{line}: {refused}");
    }
    assert!(notes.0.lock().unwrap().is_empty());
    // By default nothing is allowed.
    let refused = answer(Shell::new("/scratch").runner(notes.clone()), "ls").await;
    assert!(refused.contains("is not allowed"), "{refused}");
}

#[tokio::test]
async fn a_person_approves_each_call_unless_it_is_refused_anyway() {
    let notes = Notes::default();
    let line = |id: &str, line: &str| call(id, "shell", json!({"command": line}));
    let model = ScriptedModel::new([
        Turn::tool_calls([line("c1", "ls"), line("c2", "rm x"), line("c3", "ls a")]),
        Turn::text("done"),
    ]);
    let shell = Shell::new("/scratch").allow(["ls"]).runner(notes.clone());
    let agent = react_agent(model, ()).with(shell).compile().unwrap();
    let refused = agent.invoke(MessagesStateUpdate::user("?")).await;
    assert!(refused.unwrap_err().to_string().contains("checkpointer"));
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let outcome = thread.run(MessagesStateUpdate::user("?")).await.unwrap();
    let open: Vec<_> = outcome
        .interrupts()
        .iter()
        .map(ApprovalRequest::of)
        .collect();
    let open: Vec<_> = open
        .into_iter()
        .map(|request| request.unwrap().call.id)
        .collect();
    assert_eq!(open, ["c1", "c3"]);
    thread.resume("c1", ToolDecision::Approve).await.unwrap();
    let outcome = thread
        .resume("c3", ToolDecision::reject("no"))
        .await
        .unwrap();
    assert!(outcome.finished().is_ok());
    assert_eq!(notes.0.lock().unwrap().len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_runs_in_its_folder_with_limits() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("long"), "x".repeat(5_000)).unwrap();
    let shell = || Shell::new(folder.path()).allow(["ls", "cat", "sleep", "env", "no-such"]);
    assert_eq!(answer(shell(), "ls").await, "long\n");
    let long = answer(shell().longest(10), "cat long").await;
    assert_eq!(long, format!("{}\n(cut off here)\n", "x".repeat(10)));
    let failed = answer(shell(), "cat missing").await;
    assert!(
        failed.contains("missing") && failed.ends_with("(exit code 1)"),
        "{failed}"
    );
    let slow = answer(shell().timeout(Duration::from_millis(50)), "sleep 60").await;
    assert!(
        slow.contains("did not end within 50ms and was killed"),
        "{slow}"
    );
    let variables = answer(shell(), "env").await;
    assert!(
        variables.lines().all(|line| line.starts_with("PATH=")),
        "{variables}"
    );
    let missing = answer(shell(), "no-such").await;
    assert!(missing.contains("`no-such` does not start"), "{missing}");
}
