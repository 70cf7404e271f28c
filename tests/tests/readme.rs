//! The README and the documentation agree with the code.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use langgraph::graph::draw::embed::{self, EmbedError};

/// The agent of the README, word for word.
mod agent {
    include!("readme/agent.rs");

    #[test]
    fn i3_the_readmes_agent_answers() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }

    #[test]
    fn j13_the_readme_shows_the_picture_of_its_agent() -> Result<(), Box<dyn std::error::Error>> {
        let agent = agent()?;
        super::picture("README.md", "agent", &agent)?;
        super::picture("README.zh.md", "agent", &agent)?;
        Ok(())
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn picture<S: langgraph::State>(
    file: &str,
    name: &str,
    graph: &langgraph::CompiledStateGraph<S>,
) -> Result<(), EmbedError> {
    embed::check(root().join(file), name, &graph.topology().draw())
}

#[test]
fn i3_the_readmes_hold_the_agent_that_is_tested_here() {
    for page in ["README.md", "README.zh.md"] {
        let text = read(page);
        assert!(
            text.contains(include_str!("readme/agent.rs")),
            "{page} does not hold tests/tests/readme/agent.rs word for word"
        );
        // No other code, as nothing would compile it.
        assert_eq!(text.matches("```rust\n").count(), 1, "{page}");
    }
}

/// Returns the variants of an enum in one of our files: the lines with four spaces and a capital
/// letter.
fn variants(source: &str, name: &str) -> Vec<String> {
    source
        .lines()
        .skip_while(|line| *line != format!("pub enum {name} {{"))
        .take_while(|line| *line != "}")
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
        .map(|line| {
            let end = line.find(|c: char| !c.is_alphanumeric());
            line[..end.unwrap_or(line.len())].to_owned()
        })
        .collect()
}

#[test]
fn every_error_of_a_run_is_in_the_table() {
    let table = read("docs/errors.md");
    for (path, name) in [
        ("crates/core/src/error/agent_error.rs", "AgentError"),
        ("crates/core/src/error/invalid_update.rs", "InvalidUpdate"),
        (
            "crates/core/src/error/checkpoint_error.rs",
            "CheckpointError",
        ),
        ("crates/core/src/error/subgraph_error.rs", "SubgraphError"),
        ("crates/store/src/error.rs", "StoreError"),
        ("crates/remote/src/error.rs", "RemoteError"),
        ("crates/agent/src/model/error.rs", "ModelErrorKind"),
        ("crates/topology/src/problem.rs", "CompilationError"),
        ("crates/topology/src/lint.rs", "Lint"),
    ] {
        let variants = variants(&read(path), name);
        assert!(variants.len() > 3, "{path}: {name} has {variants:?}");
        let missing: Vec<_> = variants
            .iter()
            .filter(|variant| !table.contains(&format!("| `{name}::{variant}`")))
            .collect();
        assert!(
            missing.is_empty(),
            "docs/errors.md lacks {name}::{missing:?}"
        );
    }
}

/// Returns the relative links of a Markdown text.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
        .filter(|link| !link.is_empty() && !link.contains("://"))
}

#[test]
fn links_between_the_pages_lead_somewhere() {
    let mut pages: Vec<_> = ["README.md", "README.zh.md", "CONTRIBUTING.md"]
        .map(|page| root().join(page))
        .into();
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    pages.extend(docs.map(|page| page.unwrap().path()));
    let mut count = 0;
    for page in pages
        .iter()
        .filter(|page| page.extension().is_some_and(|end| end == "md"))
    {
        let text = std::fs::read_to_string(page).unwrap();
        for link in links(&text) {
            count += 1;
            let target = page.parent().unwrap().join(link);
            assert!(target.exists(), "{} links to {link}", page.display());
        }
    }
    assert!(count > 10, "found only {count} links");
}

#[test]
fn i4_the_alignment_page_answers_every_question() {
    let page = read("docs/langgraph-rust-alignment.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| Q"));
    let mut answered: Vec<_> = rows
        .filter_map(|row| row.split(" | ").next()?.parse::<usize>().ok())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, (1..=35).collect::<Vec<_>>());
}

/// The answers in the words of the page's row: the last column, and Python's column if it is the
/// same.
const ANSWERS: [&[&str]; 35] = [
    &["`add_edge(from, to)` only", "`add_sequence`", "`graph!`"],
    &[
        "an update; the whole state",
        "`Next`",
        "`Command`",
        "`()`",
        "`Result`",
        "`NodeError`",
    ],
    &[
        "one method",
        "`Agent`",
        "`Node`",
        "closure",
        "`#[node]`",
        "a compiled graph",
    ],
    &["no: an agent becomes a node when"],
    &[
        "`compile()` that names the id",
        "in `graph!` a compile error",
    ],
    &["never a panic", "every problem of the graph at once"],
    &["`CompilationError::NoEntryPoint`"],
    &["in parallel", "the same"],
    &["in parallel", "the same"],
    &[
        "once for each superstep",
        "`add_edge([a, b], c)` waits for all",
        "`[a, b] => c`",
    ],
    &["in the builder", "In `graph!`", "`=> END`"],
    &["from START and to END", "`add_chain`"],
    &[
        "wins",
        "`Next::Continue` follows the edges",
        ".and_edges()` does both",
    ],
    &["`Command`", "`add_conditional_edges`", "both"],
    &["an error that names the node and the key", "exhaustive"],
    &[
        "an `id` and a `kind`",
        "tool calls",
        "removals",
        "`Message::user(..)`",
    ],
    &[
        "`#[reducer(append)]`",
        "`#[reducer(add_messages)]`",
        "without an attribute is replaced",
    ],
    &[
        "assigned on both sides",
        "does nothing",
        "`add_messages_strict` refuses it",
    ],
    &["unit structs", "`Replace`", "`Append`", "`ReducerFn::new`"],
    &["by value or by reference", "`Context`", "async or not"],
    &[
        "`invoke(input)`",
        "`run(input).thread(..).resource(..).limit(..)`",
        "an update",
    ],
    &["an update", "by the reducers into the saved state"],
    &["step -1", "step 0", "after every superstep", "the same"],
    &[
        "nodes, routers and tools",
        "before and after",
        "thread and key",
    ],
    &["placeholder", "binding", "transport", "a clear error"],
    &[
        "no: a flag has no agent id",
        "`add_remote_node`",
        "`NodeKind`",
    ],
    &["the call", "the graph continues"],
    &["an error message to the model", "exactly once"],
    &[
        "the last reply is defined",
        "tool call",
        "every run has a step limit",
    ],
    &["`serde_json::Value`"],
    &["`futures_core::Stream`"],
    &[
        "`langgraph`",
        "`langgraph-macros`",
        "`examples`",
        "`tests`",
        "`crates`",
        "public interface",
    ],
    &["the same flow", "by default", "environment variables"],
    &[
        "`AgentError`",
        "a node failed",
        "interrupted",
        "step limit",
        "invalid update",
        "routing",
        "checkpoint",
        "remote",
        "cancelled",
        "timed out",
    ],
    &[
        "`update`, `overwrite` and `goto`",
        "are set",
        "takes a `Command`",
    ],
];

#[test]
fn i4_the_answers_of_the_alignment_page_are_the_decisions() {
    let page = read("docs/langgraph-rust-alignment.md");
    let mut missing = Vec::new();
    for (number, words) in (1..).zip(ANSWERS) {
        let start = format!("| Q{number} | ");
        let row = page.lines().find_map(|line| line.strip_prefix(&start));
        let row = row.unwrap();
        // The question does not count.
        let (_, answer) = row.split_once(" | ").unwrap();
        let here = answer.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let answer = if here.starts_with("the same") || here == "both" {
            answer
        } else {
            here
        };
        let lost = words.iter().filter(|word| !answer.contains(**word));
        missing.extend(lost.map(|word| format!("Q{number} says `{answer}`, not `{word}`")));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn i2_every_named_example_is_there() {
    let named = "echo state_graph_echo react_linear react_zhipu react_mcp react_mcp_gitlab react_exa \
        memory_checkpoint memory_persistence agent simple_agent tool_agent router parallel subgraph \
        human_in_the_loop assistant_email";
    let folders = ["examples", "examples/agents", "crates/sqlite", "crates/mcp"];
    for name in named.split_whitespace() {
        let file = |folder| root().join(folder).join(format!("examples/{name}.rs"));
        assert!(folders.iter().any(|folder| file(folder).exists()), "{name}");
    }
}

#[test]
fn i2_the_tests_that_the_documents_name_are_there() {
    for (name, first) in [
        ("tests/tests/graph/state_graph.rs", "a1_"),
        ("crates/agent/tests/agent/react_linear_chain.rs", "g16_"),
    ] {
        let text = read(name);
        assert!(text.contains(&format!("fn {first}")), "{name}");
        // It is a part of a test.
        let (folder, file) = name.rsplit_once('/').unwrap();
        let module = format!("mod {};", file.trim_end_matches(".rs"));
        assert!(
            read(&format!("{folder}/main.rs")).contains(&module),
            "{name}"
        );
    }
}

/// Returns the names in the first column of the tables about rules and slips.
fn documented(text: &str) -> BTreeSet<String> {
    let tables = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let columns = tables.filter_map(|line| line.split(" | ").next());
    columns
        .flat_map(|column| column.split(", "))
        .map(|name| name.trim_matches('`').to_owned())
        .collect()
}

/// Returns the functions that report a rule: those over the model and the errors, and those of
/// `Twice`.
fn checked(source: &str) -> BTreeSet<String> {
    let functions = source.split("fn ").skip(1);
    let rules = functions.filter_map(|function| {
        let (name, rest) = function.split_once('(')?;
        let (arguments, _) = rest.split_once('{')?;
        let is_rule =
            arguments.contains("errors: &mut Errors") || arguments.starts_with("&mut self)");
        // These only dispatch or format.
        let is_helper = ["check", "new", "resolve", "stuck_join"].contains(&name);
        (is_rule && !is_helper).then(|| name.to_owned())
    });
    rules.collect()
}

/// Returns the rules about graphs: the public functions that return findings.
fn rules() -> BTreeSet<String> {
    let files = std::fs::read_dir(root().join("crates/topology/src/rules")).unwrap();
    let sources = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let sources: Vec<String> = sources.collect();
    let functions = sources
        .iter()
        .flat_map(|source| source.split("pub fn ").skip(1));
    let rules = functions.filter_map(|function| {
        let (signature, _) = function.split_once('{')?;
        let (name, rest) = signature.split_once('(')?;
        rest.contains("-> Vec<Finding>").then(|| name.to_owned())
    });
    rules.collect()
}

/// Graphs that break a rule in a second way, or several rules.
const MORE_CASES: &[&str] = &[
    "cycle_beside_an_exit",
    "duplicate_edge_in_a_group",
    "empty_input",
    "every_mention_is_a_name",
    "lending_closure",
    "self_edge",
    "several_mistakes",
    "undeclared_goto_of_a_worker",
    "undeclared_goto_with_options",
    "unknown_node_twice",
    "unknown_return_type",
];

#[test]
fn every_rule_of_graph_has_a_check_a_test_and_a_line_in_the_documentation() {
    let documented = documented(&read("langgraph-macros/src/graph.md"));
    let tests = std::fs::read_dir(root().join("tests/ui/graph/fail")).unwrap();
    let tested: BTreeSet<String> = tests
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| !MORE_CASES.contains(&name.as_str()))
        .collect();
    assert_eq!(documented, tested, "documented, and tested");
    let checked: BTreeSet<String> = [
        "check",
        "check/bounds",
        "check/reach",
        "check/twice",
        "named",
    ]
    .iter()
    .flat_map(|part| checked(&read(&format!("langgraph-macros/src/graph/{part}.rs"))))
    .collect();
    assert!(checked.len() > 20, "{checked:?}");
    // A rule about graphs is found in one place, for `graph!` and the builder alike; `graph!` adds
    // only what can be wrong with chains.
    let rules = rules();
    let of_chains: Vec<_> = checked.difference(&rules).map(String::as_str).collect();
    let only_written = [
        "bound_of_no_edge",
        "branch_end_in_group",
        "decision_after_group",
        "decision_as_node",
        "decision_first",
        "decision_in_group",
        "goto_after_start",
        "list_after_arrow",
        "map_in_group",
        "twice_in_list",
        "unused_let",
    ];
    assert_eq!(
        of_chains, only_written,
        "no rule of that name in crates/topology/src/rules"
    );
    let missing: Vec<_> = checked.difference(&tested).collect();
    assert!(
        missing.is_empty(),
        "neither tested nor documented: {missing:?}"
    );
    // What is said of the shape of a graph is said by `check.rs` and `named.rs`, under that name.
    let ours = tested.iter().filter(|name| !name.starts_with("slip_"));
    let ours = ours.filter(|name| {
        let message = read(&format!("tests/ui/graph/fail/{name}.stderr"));
        message.starts_with("error: ")
            && !message.contains("= note: `#[deny(")
            && !message.contains("note: ")
    });
    let unnamed: Vec<_> = ours.filter(|name| !checked.contains(*name)).collect();
    assert!(
        unnamed.is_empty(),
        "no function in check.rs or named.rs: {unnamed:?}"
    );
}

/// The cell behind a name in the table between `<!-- build-cost -->` markers.
fn build_cost(page: &str, name: &str) -> Option<String> {
    let (_, table) = page.split_once("<!-- build-cost -->")?;
    let (table, _) = table.split_once("<!-- /build-cost -->")?;
    let row = table.lines().find(|line| line.contains(name))?;
    let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
    cells.last().map(|cell| (*cell).to_owned())
}

#[test]
fn i3_the_pages_say_what_a_build_costs_and_count_the_crates_rightly() {
    let page = read("docs/performance.md");
    for name in ["of 10 edges", "of 100 edges", "of 500 edges"] {
        assert!(build_cost(&page, name).is_some(), "no row {name}");
    }
    let runtime = crates_of("langgraph");
    let said = build_cost(&page, "and what it pulls in");
    assert_eq!(said, Some(runtime.to_string()));
    let agent = crates_of("langgraph-agent");
    let words = format!(
        "pulls in {runtime} crates in total, itself included; with `langgraph-agent`, {agent}."
    );
    let readme = read("README.md");
    assert!(readme.contains(&words), "README.md lacks: {words}");
}

/// How many crates a package brings along, itself included.
fn crates_of(package: &str) -> usize {
    let tree = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--package", package, "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}", "--no-dedupe"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{tree:?}");
    let tree = String::from_utf8(tree.stdout).unwrap();
    tree.lines().collect::<BTreeSet<&str>>().len()
}

#[test]
fn i3_the_page_of_figures_shows_pictures_that_are_there() {
    let page = read("docs/performance.md");
    for theme in ["light", "dark"] {
        let file = format!("performance-{theme}.svg");
        assert!(
            page.contains(&file),
            "docs/performance.md does not show {file}"
        );
        assert!(
            read(&format!("docs/{file}")).starts_with("<svg "),
            "{file} is no picture"
        );
    }
}
