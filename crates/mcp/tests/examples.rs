//! What the examples print, on servers of this machine.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../examples/tests/listed/mod.rs"]
mod listed;

use std::path::{Path, PathBuf};
use std::process::Command;

fn program(name: &str) -> PathBuf {
    // `cargo test -p langgraph-mcp` builds it before it runs a test; with `--test` it does not.
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile
        .join("examples")
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "the example is not built: run `cargo build -p langgraph-mcp --examples`"
    );
    program
}

/// The lines that an example prints, as a user without any key would see them.
fn printed(name: &str, question: &str) -> Vec<String> {
    let mut command = Command::new(program(name));
    for variable in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "OLLAMA_HOST",
        "OPENAI_BASE_URL",
        "MODEL",
        "MCP_COMMAND",
        "GITLAB_TOKEN",
        "GITLAB_URL",
        "EXA_API_KEY",
        "EXA_URL",
    ] {
        command.env_remove(variable);
    }
    let output = command.arg(question).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_listed_command_runs() {
    for listed in listed::of_package("langgraph-mcp") {
        listed.run(&[]);
    }
}

#[test]
fn react_mcp_asks_a_process() {
    for (question, expression, answer) in [
        ("What is 12 squared?", "12 ^ 2", "144"),
        ("What is 37 * 21?", "37 * 21", "777"),
    ] {
        assert_eq!(
            printed("react_mcp", question),
            [
                format!("calls calculate(expression: \"{expression}\")"),
                format!("calculate -> {answer}"),
                "answers".to_owned(),
                format!("{expression} = {answer}."),
            ]
        );
    }
}

#[test]
fn react_mcp_gitlab_reads_the_oldest_issue() {
    let bugs = printed("react_mcp_gitlab", "Which bugs are open in group/app?");
    assert_eq!(
        bugs.last().unwrap(),
        "2 open in group/app; the oldest is #3, Crash on start: A bug: it ends at once when the folder is empty."
    );
    // The order of a JSON object is that of its names, or that of the program.
    assert!(bugs[0].starts_with("calls search("), "{}", bugs[0]);
    for argument in [
        "project_id: \"group/app\"",
        "scope: \"issues\"",
        "search: \"bug\"",
        "state: \"opened\"",
    ] {
        assert!(bugs[0].contains(argument), "{argument} in {}", bugs[0]);
    }
    assert_eq!(bugs[2], "calls get_issue(id: \"group/app\", issue_iid: 3)");
    let dark = printed("react_mcp_gitlab", "What is open about dark in group/app?");
    assert!(
        dark.last()
            .unwrap()
            .starts_with("1 open in group/app; the oldest is #5")
    );
    let other = printed("react_mcp_gitlab", "Which bugs are open in group/other?");
    assert!(other[1].starts_with("search -> failed: "), "{other:?}");
    assert!(other[3].contains("404 Project Not Found"), "{other:?}");
    let none = printed(
        "react_mcp_gitlab",
        "What is open about teapots in group/app?",
    );
    assert_eq!(none.last().unwrap(), "Nothing is open in group/app.");
}

#[test]
fn a_graph_behind_a_server_asks_the_user_of_its_client() {
    let mut command = Command::new(program("serve_agent"));
    let output = command.args(["Refund order 7", "reject"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "the server asks: May `refund` run with {\"number\":7}?",
            "the answer: reject"
        ]
    );
    assert!(lines[2].contains("did not run"), "{lines:?}");
}

#[test]
fn react_exa_finds_a_page() {
    let lines = printed("react_exa", "how are joins drawn in a decision");
    assert!(lines[0].starts_with("calls web_search_exa("), "{lines:?}");
    assert!(
        lines.last().unwrap().starts_with("See \u{201c}"),
        "{lines:?}"
    );
    let nothing = printed("react_exa", "xyzzyplugh");
    assert_eq!(nothing.last().unwrap(), "Nothing was found.");
}
