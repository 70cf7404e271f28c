//! Every example runs without a key and without a network, and prints what it should.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod listed;
mod programs;

use programs::printed;

#[test]
fn i2_every_listed_command_runs() {
    for listed in listed::beside() {
        listed.run(&[]);
    }
}

#[test]
fn i2_every_example_of_the_workspace_is_listed() {
    let listed = listed::all();
    let count = listed.len();
    let listed: std::collections::BTreeSet<_> = listed
        .into_iter()
        .map(|listed| (listed.package, listed.example))
        .collect();
    assert_eq!(listed.len(), count, "an example is listed twice");
    assert_eq!(listed, listed::existing());
}

#[test]
fn g18_echo_prints_its_input() {
    assert_eq!(
        printed("echo", &["hello there"]),
        "user: hello there\nassistant: hello there\nuser: and again\nassistant: and again\n"
    );
}

#[test]
fn g18_state_graph_echo_prints_its_argument() {
    assert_eq!(
        printed("state_graph_echo", &["hello there"]),
        "hello there\n"
    );
}

#[test]
fn g16_react_linear_thinks_acts_and_observes() {
    assert_eq!(
        printed("react_linear", &["What is 12 squared?"]),
        "calls calculate(expression: \"12 ^ 2\")\ncalculate -> 144\n"
    );
    assert_eq!(printed("react_linear", &["Thanks!"]), "answers\n");
}

#[test]
fn g16_react_zhipu_thinks_again_until_it_knows() {
    assert_eq!(
        printed("react_zhipu", &["What is the product of 6 and 7, squared?"]),
        "calls calculate(expression: \"(6 * 7) ^ 2\")\n\
         calculate -> 1764\n\
         answers\n\
         (6 * 7) ^ 2 = 1764.\n"
    );
}

#[test]
fn g4_simple_agent_replies_once() {
    let printed = printed("simple_agent", &["你好"]);
    assert!(
        printed.starts_with("user: 你好\nassistant: 你好！"),
        "{printed}"
    );
    assert!(printed.ends_with("\nnext action: End\n"), "{printed}");
}

#[test]
fn g6_tool_agent_takes_four_messages_and_two_iterations() {
    let printed = printed("tool_agent", &["现在几点了？"]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines[..2],
        ["user: 现在几点了？", "assistant: calls get_current_time()"]
    );
    let time = lines[2].strip_prefix("tool: ").unwrap();
    assert_eq!(lines[3], format!("assistant: 现在是 {time}。"));
    assert_eq!(lines[4..], ["4 messages, 2 iterations"]);
}

#[test]
fn g12_router_takes_three_ways() {
    assert_eq!(
        printed("router", &[]),
        "translate got: 翻译这句话\nsearch got: Search for Rust\nchat got: 你好\n"
    );
}

#[test]
fn b6_parallel_branches_overlap_and_merge_in_order() {
    assert_eq!(printed("parallel", &[]), "task1 and task2 are done\n");
}

#[test]
fn g13_pipeline_runs_in_order() {
    assert_eq!(
        printed("pipeline", &["  Good   MORNING "]),
        "You wrote \"good morning\". Yours, the graph\nby way of preprocess, chat, postprocess\n"
    );
}

#[test]
fn g2_subgraph_returns_what_it_changed() {
    assert_eq!(
        printed("subgraph", &[]),
        "received 2 items, checked, packed\ntotal 90\n"
    );
}

#[test]
fn f9_watch_shows_the_graph_and_its_steps() {
    let printed = printed("watch", &[]);
    assert!(printed.contains("double"), "{printed}");
    for line in [
        "debug: Count { value: 10 }",
        "debug: Count { value: 20 }",
        "step 3: double wrote CountUpdate { value: 20 }",
        "Count { value: 20 }",
    ] {
        assert!(
            printed.lines().any(|printed| printed == line),
            "no `{line}` in\n{printed}"
        );
    }
}

#[test]
fn e7_human_in_the_loop_goes_on_with_the_answer() {
    let question = "the graph asks `approve`: \"Publish \\\"All about graphs.\\\"?\"";
    for (answer, end) in [("yes", "written, published"), ("no", "written, discarded")] {
        assert_eq!(
            printed("human_in_the_loop", &[answer]),
            format!("{question}\nthe answer is {answer}\n{end}\n")
        );
    }
}

#[test]
fn j5_tool_approval_asks_before_each_dangerous_call() {
    assert_eq!(
        printed("tool_approval", &["approve", "edit junk.txt"]),
        "The model wants to call `delete_file`. {\"path\":\"notes.txt\"}\n\
         > approve\n\
         The model wants to call `delete_file`. {\"path\":\"thesis.txt\"}\n\
         > edit junk.txt\n\
         The model wants to call `delete_file`. {\"path\":\"draft.txt\"}\n\
         > reject\n\
         list_files -> notes.txt, thesis.txt, draft.txt\n\
         delete_file -> notes.txt is gone\n\
         delete_file -> (The user changed the arguments to {\"path\":\"junk.txt\"}.) junk.txt is gone\n\
         delete_file -> failed: The user wants to keep this file.\n\
         answers\n\
         I have cleaned up as far as I was allowed to.\n"
    );
}

#[test]
fn e3_memory_checkpoint_continues_each_thread() {
    let printed = printed("memory_checkpoint", &[]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "ada: I am Ada -> so far you said: I am Ada",
            "bob: I am Bob -> so far you said: I am Bob",
            "ada: who am I? -> so far you said: I am Ada | who am I?",
        ]
    );
    assert_eq!(lines[4], "step 4: 4 messages, next []");
    assert_eq!(
        lines.last(),
        Some(&"step -1: 0 messages, next [\"__start__\"]")
    );
    assert_eq!(lines.len(), 10);
}

#[test]
fn g14_memory_agent_recalls_its_session_and_no_other() {
    assert_eq!(
        printed("memory_agent", &[]),
        "one: I am Ada -> Hello, Ada!\none: hi again -> Hello, Ada!\ntwo: hi -> Hello! Who are you?\n"
    );
}
