//! A coding agent in a scratch folder: it runs the tests, finds the mistake, and mends it.
//! Run it with `cargo run --example coding_agent`.

use langgraph::graph::CompiledStateGraph;
use langgraph::message::ToolCall;
use langgraph_agent::{FnTool, MessagesState, MessagesStateUpdate, ToolError, Turn};
use langgraph_deep::{DiskFiles, FileAccess, FilePermissions, deep_agent};
use langgraph_examples::{script, show};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const LIB: &str = "pub fn middle(a: i32, b: i32) -> i32 {
    a + b / 2
}

#[test]
fn the_middle_of_two_numbers() {
    assert_eq!(middle(4, 8), 6);
}
";

/// Puts code with a mistake into a folder.
pub(crate) fn scratch(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::write(folder.join("src/lib.rs"), LIB)
}

/// Compiles and runs the tests of the folder, and says how they end.
fn run_tests(folder: &Path) -> Result<String, ToolError> {
    let compiled = Command::new("rustc")
        .args([
            "--test",
            "--edition=2024",
            "src/lib.rs",
            "-o",
            "tests-of-lib",
        ])
        .current_dir(folder)
        .output()?;
    if !compiled.status.success() {
        let errors = String::from_utf8_lossy(&compiled.stderr);
        return Ok(format!("the tests do not compile:\n{errors}"));
    }
    let ran = Command::new(folder.join("tests-of-lib")).output()?;
    let lines = String::from_utf8_lossy(&ran.stdout).into_owned();
    let told = lines
        .lines()
        .filter(|line| line.starts_with("test the") || line.contains("left:"));
    Ok(told.collect::<Vec<_>>().join("\n"))
}

fn call(name: &str, arguments: Value) -> Turn {
    Turn::tool_calls([ToolCall::new(format!("call-{name}"), name, arguments)])
}

/// A script in the place of a model.
fn turns() -> Vec<Turn> {
    let edit = json!({
        "new_string": "(a + b) / 2",
        "old_string": "a + b / 2",
        "path": "/src/lib.rs",
    });
    vec![
        call("run_tests", json!({})),
        call("grep", json!({"path": "/src", "pattern": "fn middle"})),
        call("read_file", json!({"limit": 3, "path": "/src/lib.rs"})),
        call(
            "write_file",
            json!({"content": "No.", "path": "/README.md"}),
        ),
        call("edit_file", edit),
        call("run_tests", json!({})),
        Turn::text("The division came before the sum. The test passes now."),
    ]
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("coding-agent-{}", std::process::id()));
    let agent = agent(&folder)?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    scratch(&folder)?;
    let task = MessagesStateUpdate::user("A test fails. Mend the code.");
    let state = show::run(agent.run(task)).await;
    std::fs::remove_dir_all(&folder)?;
    state?;
    Ok(())
}

pub(crate) fn agent(
    folder: &Path,
) -> Result<CompiledStateGraph<MessagesState>, Box<dyn std::error::Error>> {
    // The agent writes code, and reads the rest.
    let permissions = FilePermissions::new()
        .on("/src/**", FileAccess::Write)?
        .otherwise(FileAccess::Read);
    let tests = PathBuf::from(folder);
    let run_tests = FnTool::new("run_tests", "Compiles and runs the tests.", move || {
        let folder = tests.clone();
        async move { tokio::task::spawn_blocking(move || run_tests(&folder)).await? }
    });
    Ok(deep_agent(script::model(|_| turns())?)
        .name("coding_agent")
        .prompt("You mend code. Run the tests before and after.")
        .tools((run_tests,))
        .files(DiskFiles::new(folder))
        .permissions(permissions)
        .no_general_purpose()
        .compile()?)
}
