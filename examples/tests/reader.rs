//! The question reader with its tools: what is asked comes out right, and comes from the tools.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod folders;
mod questions;

use folders::Folder;
use langgraph_examples::calculator::evaluate;
use langgraph_examples::file_search::{Filter, find_files};
use langgraph_examples::reader::{
    CALCULATE, FIND_FILES, GET_CURRENT_TIME, PlannedCall, ToolResult, answer, next, plan,
};
use questions::{arithmetic_question, assert_counts, both, files_question};
use serde_json::{Value, json};
use std::path::Path;

const ALL: &[&str] = &[CALCULATE, GET_CURRENT_TIME, FIND_FILES];
const NOON: &str = "2024-01-01 12:00:00";

/// Runs a call, with folders below `root`, and the clock at noon.
fn run(call: PlannedCall, root: &Path) -> ToolResult {
    let outcome = match call.tool.as_str() {
        CALCULATE => evaluate(call.arguments["expression"].as_str().unwrap())
            .map(|number| number.to_string())
            .map_err(|error| error.to_string()),
        GET_CURRENT_TIME => Ok(NOON.to_owned()),
        FIND_FILES => search(&call.arguments, root),
        other => panic!("no tool `{other}`"),
    };
    let is_error = outcome.is_err();
    ToolResult {
        tool: call.tool,
        arguments: call.arguments,
        content: outcome.unwrap_or_else(|error| error),
        is_error,
    }
}

fn search(arguments: &Value, root: &Path) -> Result<String, String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let filter = match (text("extension"), text("pattern")) {
        (Some(extension), _) => Filter::extension(extension),
        (None, Some(pattern)) => Filter::name(pattern).map_err(|error| error.to_string())?,
        (None, None) => Filter::Any,
    };
    let folder = root.join(text("folder").unwrap());
    let found = find_files(&folder, &filter).map_err(|error| error.to_string())?;
    Ok(json!({ "count": found.len(), "files": found }).to_string())
}

fn ask_in(question: &str, root: &Path) -> String {
    let mut results: Vec<ToolResult> = Vec::new();
    loop {
        let plan = next(question, ALL, &results);
        assert_eq!(plan.calls.is_empty(), plan.reply.is_some(), "{question}");
        if let Some(reply) = plan.reply {
            if !results.is_empty() {
                assert_eq!(reply, answer(question, &results));
            }
            return reply;
        }
        results.extend(plan.calls.into_iter().map(|call| run(call, root)));
        assert!(results.len() < 20, "{question}: never done");
    }
}

fn ask(question: &str) -> String {
    let empty = Folder::empty();
    ask_in(question, empty.path())
}

fn numbers_in(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '-'))
        .filter(|part| part.chars().any(|c| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

#[test]
fn random_arithmetic_comes_out_exact() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..300 {
        let (question, value) = arithmetic_question(&mut random);
        let answer = ask(&question);
        assert!(
            answer.ends_with(&format!(" = {value}.")),
            "{question}\n{answer}\nexpected {value}"
        );
    }
}

#[test]
fn random_folders_are_counted_exactly() {
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..60 {
        let root = Folder::empty();
        let (question, count) = files_question(&mut random, root.path());
        assert_counts(&ask_in(&question, root.path()), count, &question);
    }
}

#[test]
fn both_at_once_are_both_answered() {
    let mut random = fastrand::Rng::with_seed(3);
    for round in 0..60 {
        let root = Folder::empty();
        let (files, count) = files_question(&mut random, root.path());
        let (sum, value) = arithmetic_question(&mut random);
        let question = both(round, &sum, &files);
        let answer = ask_in(&question, root.path());
        assert_counts(&answer, count, &question);
        assert!(
            answer.contains(&format!(" = {value}")),
            "{question}\n{answer}\nexpected {value}"
        );
    }
}

#[test]
fn the_first_question_of_the_readme() {
    let root = Folder::with(&["one.rs"]);
    let question = "What is 37 * 21, and how many .rs files are in this folder?";
    let planned = plan(question, ALL);
    assert_eq!(planned.calls.len(), 2);
    assert_eq!(
        ask_in(question, root.path()),
        "37 * 21 = 777, and there is 1 .rs file in this folder."
    );
}

#[test]
fn a_calculation_can_wait_for_a_search() {
    let root = Folder::with(&["a.rs", "b.rs", "c.rs", "x.md", "y.md", "sub/z.md"]);
    for (question, expected) in [
        ("What is 5 plus the number of .rs files here?", "5 + 3 = 8"),
        ("What is twice the number of .md files in sub?", "1 * 2 = 2"),
        (
            "multiply the number of rust files by the number of markdown files",
            "3 * 3 = 9",
        ),
        (
            "the number of .rs and .toml files times 10",
            "(3 + 0) * 10 = 30",
        ),
        (
            "What is the number of .rs files squared, and what is 2 + 2?",
            "3 ^ 2 = 9",
        ),
        (
            "What is the number of .rs files squared, and what is 2 + 2?",
            "2 + 2 = 4",
        ),
        ("the sum of 4 and the number of .rs files", "4 + 3 = 7"),
    ] {
        let answer = ask_in(question, root.path());
        assert!(answer.contains(expected), "{question}\n{answer}");
    }
    // Without its number there is no calculation, and no blank is ever called or shown.
    let failed = ask_in(
        "What is 5 plus the number of .rs files in ./nowhere?",
        root.path(),
    );
    assert!(
        failed.contains("there is no folder") && !failed.contains('{'),
        "{failed}"
    );
    let unoffered = plan("What is 5 plus the number of .rs files here?", &[CALCULATE]);
    assert_eq!(
        unoffered.reply.as_deref(),
        Some("I can not look for files here.")
    );
}

#[test]
fn an_altered_result_alters_the_answer() {
    let mut random = fastrand::Rng::with_seed(4);
    let question = "What is 37 * 21, what time is it, and how many .rs files are in this folder?";
    let root = Folder::empty();
    for _ in 0..50 {
        let mut results: Vec<ToolResult> = plan(question, ALL)
            .calls
            .into_iter()
            .map(|call| run(call, root.path()))
            .collect();
        assert_eq!(results.len(), 3);
        let (value, count) = (random.u64(..), random.u64(2..));
        results[0].content = value.to_string();
        results[1].content = "half past nine".to_owned();
        results[2].content = json!({ "count": count, "files": [] }).to_string();
        let answer = answer(question, &results);
        assert_eq!(
            answer,
            format!(
                "37 * 21 = {value}, it is half past nine, and there are {count} .rs files in this folder."
            )
        );
        assert!(!numbers_in(&answer).contains(&"777".to_owned()));
    }
}

#[test]
fn a_failed_tool_is_reported_with_its_reason() {
    assert_eq!(
        ask("What is 5 / (3 - 3)?"),
        "I could not find out 5 / (3 - 3): division by zero at position 3."
    );
    let missing = ask("How many .rs files are in ./nowhere?");
    assert!(
        missing.starts_with("I could not find out .rs files in ./nowhere: there is no folder `"),
        "{missing}"
    );
    let dangling = ask("What is 3 + * 4?");
    assert!(
        dangling.contains("unexpected `*` at position 5"),
        "{dangling}"
    );
}

#[test]
fn listed_files_are_named_and_long_lists_are_cut() {
    let root = Folder::empty();
    for index in 10..40 {
        std::fs::write(root.path().join(format!("f{index}.md")), "").unwrap();
    }
    std::fs::write(root.path().join("Cargo.toml"), "").unwrap();
    assert_eq!(
        ask_in("list all toml files", root.path()),
        "There is 1 .toml file in this folder: Cargo.toml."
    );
    assert_eq!(
        ask_in("Where is Cargo.toml?", root.path()),
        "There is 1 file named Cargo.toml in this folder: Cargo.toml."
    );
    let listed = ask_in("list the markdown files", root.path());
    assert!(listed.starts_with("There are 30 .md files in this folder: f10.md, f11.md"));
    assert!(listed.ends_with("f29.md, and 10 more."), "{listed}");
    assert!(!ask_in("how many markdown files", root.path()).contains("f10.md"));
}

#[test]
fn the_time_comes_from_the_clock() {
    assert_eq!(ask("What time is it?"), format!("It is {NOON}."));
    assert_eq!(ask("现在几点了？"), format!("现在是 {NOON}。"));
    assert_eq!(
        plan("What time is it in UTC?", ALL).calls[0].arguments,
        json!({"zone": "utc"})
    );
    assert!(ask("What time is it in Tokyo?").contains("I only know the local time and UTC"));
}

#[test]
fn chinese_questions_are_answered_in_chinese() {
    let root = Folder::with(&["a.rs"]);
    assert_eq!(ask("计算37乘以21"), "37 * 21 = 777。");
    assert_eq!(
        ask_in(
            "37 * 21 等于多少？当前目录下有多少个 .rs 文件？",
            root.path()
        ),
        "37 * 21 = 777；这个目录里有 1 个 .rs 文件。"
    );
    assert!(ask("你好").starts_with("你好！"));
    assert_eq!(ask("谢谢"), "不客气！");
    assert!(ask("你能做什么？").contains("做算术"));
    assert!(ask("红楼梦是谁写的？").contains("我可以"));
}

#[test]
fn small_talk_needs_no_tool() {
    for (question, part) in [
        ("Hello", "Hello!"),
        ("good morning!", "Hello!"),
        ("Thanks a lot", "You are welcome!"),
        ("bye", "Goodbye!"),
        ("What can you do?", "arithmetic"),
        ("help", "count and list files"),
        ("Who are you?", "rule-based model"),
        ("how are you?", "I am fine"),
        (
            "Who wrote Faust?",
            "I do not know anything about that. I can do arithmetic",
        ),
        ("", "Ask me something."),
        ("???", "arithmetic"),
        ("\u{0}\u{202e}🦀", "arithmetic"),
    ] {
        let answer = ask(question);
        assert!(answer.contains(part), "{question}: {answer}");
    }
    assert!(ask("Hi, what is 2 + 2?").starts_with("Hello! 2 + 2 = 4"));
}

#[test]
fn only_offered_tools_are_called() {
    let question = "What is 2 + 3, and how many .rs files are here?";
    let half = plan(question, &[CALCULATE]);
    assert_eq!(half.calls.len(), 1);
    let results = [ToolResult {
        tool: CALCULATE.to_owned(),
        arguments: half.calls[0].arguments.clone(),
        content: "5".to_owned(),
        is_error: false,
    }];
    assert_eq!(
        answer(question, &results),
        "2 + 3 = 5, and I can not look for files here."
    );
    let none = plan(question, &[]);
    assert_eq!(none.calls, []);
    assert_eq!(
        none.reply.as_deref(),
        Some("I have no calculator here, and I can not look for files here.")
    );
    assert!(
        plan("what can you do?", &["other"])
            .reply
            .unwrap()
            .contains("no tools")
    );
}

#[test]
fn a_result_without_a_question_is_shown_too() {
    let results = [ToolResult {
        tool: "weather".to_owned(),
        arguments: json!({}),
        content: "rain".to_owned(),
        is_error: false,
    }];
    assert_eq!(answer("Hm", &results), "Weather: rain.");
}

#[test]
fn random_text_never_fails() {
    let mut random = fastrand::Rng::with_seed(5);
    let pieces = [
        "how", "many", "files", ".rs", "(", ")", "+", "-", "*", "/", "%", "^", "3", "4.5", "the",
        "sum of", "and", "in", "src", "\"", "'", "`", "?", ",", "计算", "加", "三", "目录", "下",
        "=", "x", "to the", "power", "10th", "*.rs", "./", "..", "~", "then", "it", "multiply",
    ];
    for _ in 0..3_000 {
        let question: String = (0..random.usize(1..14))
            .map(|_| pieces[random.usize(..pieces.len())].to_owned() + ["", " "][random.usize(..2)])
            .collect();
        let plan = plan(&question, ALL);
        assert_eq!(plan.calls.is_empty(), plan.reply.is_some(), "{question}");
        for call in plan.calls.iter().filter(|call| call.tool == CALCULATE) {
            // Whatever is sent to the calculator is an expression or a clear error.
            let _ = evaluate(call.arguments["expression"].as_str().unwrap());
        }
        assert!(!answer(&question, &[]).is_empty());
    }
}
