//! What the examples print, on servers of this machine.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../examples/tests/listed/mod.rs"]
mod listed;

use std::path::Path;
use std::process::Command;

/// The lines that an example prints, as a user without any key would see them.
fn printed(name: &str, question: &str) -> Vec<String> {
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
    let mut command = Command::new(program);
    for variable in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "OLLAMA_HOST",
        "OPENAI_BASE_URL",
        "MODEL",
        "MCP_COMMAND",
        "GITLAB_TOKEN",
        "EXA_API_KEY",
    ] {
        command.env_remove(variable);
    }
    let output = command.arg(question).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn i2_every_listed_command_runs() {
    for listed in listed::of_package(Some("langgraph-mcp")) {
        listed.run(&[]);
    }
}

#[test]
fn i2_react_mcp_asks_a_process() {
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
fn i2_react_mcp_gitlab_reads_the_oldest_issue() {
    let bugs = printed("react_mcp_gitlab", "Which bugs are open in group/app?");
    assert_eq!(
        bugs.last().unwrap(),
        "2 open in group/app; the oldest is #3, Crash on start: It ends at once when the folder is empty."
    );
    let all = printed("react_mcp_gitlab", "What is open in group/app?");
    assert!(
        all.last()
            .unwrap()
            .starts_with("3 open in group/app; the oldest is #3")
    );
    let other = printed("react_mcp_gitlab", "What is open in group/other?");
    assert!(other[1].starts_with("list_issues -> failed: "), "{other:?}");
    assert!(
        other[1].contains("404 Project group/other Not Found"),
        "{other:?}"
    );
    assert_eq!(other.last().unwrap(), "Nothing is open in group/other.");
}

#[test]
fn i2_react_exa_finds_a_page() {
    let lines = printed("react_exa", "how are joins drawn in a decision");
    assert!(lines[0].starts_with("calls web_search_exa("), "{lines:?}");
    assert!(
        lines.last().unwrap().starts_with("See \u{201c}"),
        "{lines:?}"
    );
    let nothing = printed("react_exa", "xyzzyplugh");
    assert_eq!(nothing.last().unwrap(), "Nothing was found.");
}
