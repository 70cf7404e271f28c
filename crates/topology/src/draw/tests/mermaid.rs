//! Mermaid pictures, and the graphs that the tests draw.

use super::{Graph, arm, graph};
use crate::{Breakpoints, END, NodeKind, START};

const ALL: usize = usize::MAX;

/// Texts written by Python's `langgraph` 1.2.22 (`langchain-core` 1.7.2) for the same graphs.
macro_rules! golden {
    ($name:literal) => {
        include_str!(concat!("../golden/", $name, ".mmd"))
    };
}

fn two_steps() -> Graph {
    graph(["m2", "m1"]).chain(&[START, "m1", "m2", END])
}

pub(super) fn agent_loop() -> Graph {
    graph(["agent", "tools"])
        .edges([(START, "agent"), ("tools", "agent")])
        .route("agent", &[("continue", &["tools"]), ("finish", &[END])])
}

fn around_two_steps() -> Graph {
    graph(["before", "sub", "after"])
        .subgraph("sub", &two_steps())
        .chain(&[START, "before", "sub", "after", END])
}

pub(super) fn nested() -> Graph {
    let deep = graph(["think", "act"])
        .edges([(START, "think"), ("act", "think")])
        .route("think", &[("go", &["act"]), ("done", &[END])])
        .stops(&["act"], &[]);
    let mid = graph(["prep", "deep"])
        .subgraph("deep", &deep)
        .chain(&[START, "prep", "deep", END]);
    graph(["first", "mid", "last"])
        .subgraph("mid", &mid)
        .edges([(START, "first"), ("first", "mid"), ("last", END)])
        .route("mid", &[("redo", &["mid"]), ("ok", &["last"])])
}

fn body(graph: &Graph) -> String {
    graph.0.draw().with_styles(false).mermaid()
}

/// The lines of the picture without its head and its styles.
fn lines(graph: &Graph, depth: usize) -> Vec<String> {
    let text = graph.0.draw().xray(depth).mermaid();
    let (_, lines) = text.split_once("graph TD;\n").expect("a head");
    let kept = lines.lines().filter(|line| !line.contains("classDef"));
    kept.map(|line| line.trim_start_matches('\t').to_owned())
        .collect()
}

#[test]
fn j13_a_chain_is_drawn_as_python_draws_it() {
    let chain = graph(["b", "a"]).chain(&[START, "a", "b", END]);
    assert_eq!(chain.0.draw().mermaid(), golden!("linear"));
    let open_end = graph(["b", "a"]).chain(&[START, "a", "b"]);
    assert_eq!(open_end.0.draw().mermaid(), golden!("linear"));
}

#[test]
fn j13_fan_outs_are_drawn_as_python_draws_them() {
    let diamond = graph(["zeta", "a", "b", "c"])
        .edges([
            (START, "zeta"),
            ("zeta", "b"),
            ("zeta", "a"),
            ("a", "c"),
            ("b", "c"),
        ])
        .edges([("c", END)]);
    assert_eq!(diamond.0.draw().mermaid(), golden!("diamond"));
    let entries =
        graph(["a", "b", "c"]).edges([(START, "a"), (START, "b"), ("a", "c"), ("b", "c")]);
    assert_eq!(entries.0.draw().mermaid(), golden!("two_entries"));
    let names = ["a", "B", "Z", "_x", "1"];
    let case = graph(names)
        .edges([(START, "a")])
        .edges(names[1..].iter().map(|to| ("a", *to)));
    assert_eq!(case.0.draw().mermaid(), golden!("case_order"));
}

#[test]
fn f7_routes_are_dotted_and_named_as_python_draws_them() {
    assert_eq!(agent_loop().0.draw().mermaid(), golden!("loop"));
    assert_eq!(body(&agent_loop()), golden!("loop_plain"));
    let from_start = graph(["search", "chat", "translate"])
        .edges([("search", END), ("chat", END), ("translate", END)])
        .route(
            START,
            &[
                ("search", &["search"]),
                ("talk", &["chat"]),
                ("other", &["translate"]),
            ],
        );
    assert_eq!(from_start.0.draw().mermaid(), golden!("route_from_start"));
    let to_end = graph(["a"])
        .edges([("a", END)])
        .route(START, &[("yes", &["a"]), ("no", &[END])]);
    assert_eq!(to_end.0.draw().mermaid(), golden!("start_to_end"));
    let targets = graph(["a", "b"])
        .edges([(START, "a"), ("b", END)])
        .route("a", &[("b", &["b"]), (END, &[END])]);
    assert_eq!(targets.0.draw().mermaid(), golden!("end_label"));
    let long = "one two three four five six seven eight nine ten eleven";
    let long = graph(["a", "b"])
        .edges([(START, "a")])
        .route("a", &[(long, &["b"]), ("stop", &[END])]);
    assert_eq!(long.0.draw().mermaid(), golden!("long_label"));
}

#[test]
fn j13_declared_jumps_are_drawn_as_python_draws_them() {
    let plan = graph(["plan", "search"])
        .edges([(START, "plan"), ("search", "plan")])
        .goto("plan", &["search", END])
        .with("plan", |plan| plan.may_goto = true);
    assert_eq!(plan.0.draw().mermaid(), golden!("goto"));
}

#[test]
fn j13_self_loops_are_drawn_as_python_draws_them() {
    let on = graph(["a", "b"])
        .edges([(START, "a"), ("b", END)])
        .route("a", &[("again", &["a"]), ("on", &["b"])]);
    assert_eq!(on.0.draw().mermaid(), golden!("self_loop"));
    let stop = graph(["a"])
        .edges([(START, "a")])
        .route("a", &[("again", &["a"]), ("stop", &[END])]);
    assert_eq!(stop.0.draw().mermaid(), golden!("self_loop_static_end"));
}

#[test]
fn j13_marks_are_drawn_as_python_draws_them() {
    let marks = graph(["ask", "work", "gather", "both"])
        .edges([
            (START, "ask"),
            ("ask", "work"),
            ("ask", "both"),
            ("work", "gather"),
        ])
        .edges([("both", "gather"), ("gather", END)])
        .with("work", |work| {
            work.metadata.insert("a".to_owned(), "1".to_owned());
            work.metadata
                .insert("model".to_owned(), "fast [v2] \"x\" #1".to_owned());
        })
        .with("gather", |gather| {
            gather.metadata.insert("owner".to_owned(), "me".to_owned());
            gather.defer = true;
        })
        .stops(&["ask", "both"], &["work", "both", "gather"]);
    assert_eq!(marks.0.draw().mermaid(), golden!("marks"));
}

#[test]
fn f7_odd_names_are_escaped_as_python_escapes_them() {
    let names = [
        "call model",
        "数据库",
        "a.b/c",
        "it-is_ok",
        "🚀",
        "*bold*",
        "é",
    ];
    let chain: Vec<&str> = [START].into_iter().chain(names).chain([END]).collect();
    assert_eq!(
        graph(names).chain(&chain).0.draw().mermaid(),
        golden!("odd_names")
    );
}

#[test]
fn j13_an_unreachable_node_is_drawn_as_python_draws_it() {
    let lost = graph(["a", "lost"]).chain(&[START, "a", END]);
    assert_eq!(lost.0.draw().mermaid(), golden!("unreachable"));
}

#[test]
fn f8_subgraphs_open_as_python_opens_them() {
    let outer = around_two_steps();
    assert_eq!(outer.0.draw().mermaid(), golden!("sub_closed"));
    assert_eq!(outer.0.draw().xray(1).mermaid(), golden!("sub_open"));
    assert_eq!(
        outer.0.draw().xray(1).with_styles(false).mermaid(),
        golden!("sub_open_plain")
    );

    let single = graph(["only"]).chain(&[START, "only", END]);
    let single = graph(["x", "sub", "other"])
        .subgraph("sub", &single)
        .subgraph("other", &two_steps())
        .chain(&[START, "x", "sub", "other", END]);
    assert_eq!(single.0.draw().xray(ALL).mermaid(), golden!("sub_single"));

    let fan = graph(["l", "r"]).edges([(START, "l"), (START, "r"), ("l", END), ("r", END)]);
    let fan = graph(["x", "fan"])
        .subgraph("fan", &fan)
        .chain(&[START, "x", "fan", END]);
    assert_eq!(fan.0.draw().xray(ALL).mermaid(), golden!("sub_fan"));
}

#[test]
fn f8_nested_subgraphs_open_to_the_depth_that_is_asked_for() {
    let top = nested();
    assert_eq!(top.0.draw().mermaid(), golden!("nested_0"));
    assert_eq!(top.0.draw().xray(1).mermaid(), golden!("nested_1"));
    assert_eq!(top.0.draw().xray(2).mermaid(), golden!("nested_2"));
    assert_eq!(top.0.draw().xray(ALL).mermaid(), golden!("nested_all"));
}

#[test]
fn j13_joins_are_thick_and_say_who_waits_for_whom() {
    let one = graph(["a", "b", "c"])
        .edges([(START, "a"), (START, "b"), ("c", END)])
        .join(&["a", "b"], "c");
    let text = body(&one);
    assert!(text.contains("\ta ==> c;\n\tb ==> c;\n"), "{text}");

    let two = graph(["a", "b", "c", "d"])
        .join(&["a", "b"], "d")
        .join(&["b", "c"], "d");
    let expected = "\ta == &nbsp;with b&nbsp; ==> d;\n\
                    \tb == &nbsp;with a&nbsp; ==> d;\n\
                    \tb == &nbsp;with c&nbsp; ==> d;\n\
                    \tc == &nbsp;with b&nbsp; ==> d;\n";
    assert!(body(&two).contains(expected), "{}", body(&two));

    let to_end = graph(["a", "b"]).join(&["a", "b"], END).join(&["a"], "b");
    assert_eq!(
        body(&to_end),
        "graph TD;\n\ta --> b;\n\ta --> __end__;\n\tb --> __end__;\n"
    );
}

#[test]
fn j13_maps_are_marked_for_each() {
    let map = |label: &str| {
        graph(["plan", "write"])
            .edges([(START, "plan"), ("write", END)])
            .branch("plan", Some(vec![arm(label, &["write"], true)]))
    };
    assert!(body(&map("")).contains("\tplan -- &nbsp;for each&nbsp; --> write;\n"));
    let named = body(&map("topic in topics"));
    assert!(named.contains("\tplan -- &nbsp;for each topic in topics&nbsp; --> write;\n"));

    let one_of_two = graph(["plan", "write"]).edges([(START, "plan")]).branch(
        "plan",
        Some(vec![arm("Some", &["write"], true), arm("None", &[], false)]),
    );
    let text = body(&one_of_two);
    assert!(
        text.contains("\tplan -. &nbsp;Some: for each&nbsp; .-> write;\n"),
        "{text}"
    );
    assert!(
        text.contains("\tplan -. &nbsp;None&nbsp; .-> __end__;\n"),
        "{text}"
    );
}

#[test]
fn j13_a_router_without_known_answers_may_go_anywhere() {
    let open = graph(["a", "b"])
        .edges([(START, "a"), ("b", END)])
        .branch("a", None);
    let lines = lines(&open, 0);
    assert!(
        lines.contains(&"anywhere(anywhere)".to_owned()),
        "{lines:?}"
    );
    assert!(lines.contains(&"a -.-> anywhere;".to_owned()), "{lines:?}");
    assert!(!lines.contains(&"a --> __end__;".to_owned()), "{lines:?}");

    let jumps = graph(["a"])
        .edges([(START, "a")])
        .with("a", |a| a.may_goto = true);
    assert_eq!(
        body(&jumps),
        "graph TD;\n\t__start__ --> a;\n\ta -.-> anywhere;\n\ta --> __end__;\n"
    );
}

#[test]
fn f7_every_line_is_drawn_where_python_keeps_one_of_several() {
    let parallel = graph(["a", "b"])
        .edges([(START, "a"), ("a", "b"), ("a", "b"), ("a", END)])
        .route("a", &[("x", &["b"]), ("y", &["b", "a"]), ("y", &["a"])]);
    assert_eq!(
        body(&parallel),
        "graph TD;\n\
         \t__start__ --> a;\n\
         \ta --> b;\n\
         \ta -. &nbsp;x&nbsp; .-> b;\n\
         \ta -. &nbsp;y&nbsp; .-> b;\n\
         \ta --> __end__;\n\
         \tb --> __end__;\n\
         \ta -. &nbsp;y&nbsp; .-> a;\n"
    );
}

#[test]
fn j13_retries_workers_remote_agents_and_breakpoints_everywhere_are_marked() {
    let mut marked = graph(["a", "w", "r"])
        .chain(&[START, "a", "w", "r"])
        .with("a", |a| {
            a.max_attempts = 3;
            a.metadata
                .insert("__tools".to_owned(), "add, ask".to_owned());
        })
        .with("w", |w| w.kind = NodeKind::Worker)
        .with("r", |r| {
            r.kind = NodeKind::Remote {
                agent: "mail@host".to_owned(),
            }
        });
    marked.0.interrupt_after = Breakpoints::All;
    let text = lines(&marked, 0).join("\n");
    let a = "a(a<hr/><small><em>__interrupt = after\n__tools = add, ask\nmax_attempts = 3</em>";
    assert!(text.contains(a), "{text}");
    assert!(
        text.contains("w(w<hr/><small><em>__interrupt = after\nworker = True</em>"),
        "{text}"
    );
    assert!(text.contains("agent = mail@host</em></small>)"), "{text}");
}

#[test]
fn f7_names_that_mermaid_would_misread_are_escaped() {
    let names = [
        "end",
        "say \"hi\" (x)",
        "a:b",
        "-x-",
        "a--b",
        "1. one",
        "graph-x",
        "call",
        "call x",
        "#35;",
    ];
    let lines = lines(&graph(names), 0);
    let expected = [
        "\\65nd(end)",
        "say\\20\\22hi\\22\\20\\28x\\29(say #quot;hi#quot; #40;x#41;)",
        "a\\3ab(a:b)",
        "\\2dx-(#45;x#45;)",
        "a\\2d-b(a--b)",
        "1\\2e\\20one(1#46; one)",
        "\\67raph-x(graph-x)",
        "\\63all(call)",
        "call\\20x(call x)",
        "\\2335\\3b(#35;35;)",
    ];
    assert_eq!(lines[1..], expected);
}

#[test]
fn f7_labels_that_mermaid_would_misread_are_escaped() {
    let odd = graph(["a", "b"]).route(
        "a",
        &[
            ("1..=5", &["b"]),
            ("\"q\"", &["b"]),
            ("Vec<T> | _", &["b"]),
            ("a &amp; b", &["b"]),
        ],
    );
    let text = body(&odd);
    for label in [
        "1#46;#46;=5",
        "#quot;q#quot;",
        "Vec#60;T#62; | _",
        "a #38;amp; b",
    ] {
        assert!(
            text.contains(&format!("\ta -. &nbsp;{label}&nbsp; .-> b;\n")),
            "{label}: {text}"
        );
    }
}

#[test]
fn f7_names_that_escape_to_one_id_stay_apart() {
    let sub = graph(["b"]).chain(&[START, "b", END]);
    let same = graph(["a", "a:b", "éa", "\u{e9a}"])
        .subgraph("a", &sub)
        .chain(&[START, "a", "a:b", "éa", "\u{e9a}", END]);
    let text = lines(&same, 1);
    for line in [
        "a\\3ab(a:b)",
        "\\e9a(éa)",
        "\\e9a_2(\u{e9a})",
        "a\\3ab_2(b)",
        "__start__ --> a\\3ab_2;",
        "a\\3ab_2 --> a\\3ab;",
        "a\\3ab --> \\e9a;",
        "\\e9a --> \\e9a_2;",
    ] {
        assert!(text.contains(&line.to_owned()), "{line}: {text:#?}");
    }
}

#[test]
fn f8_frames_hold_everything_inside_them() {
    // Frames without lines of their own, a loop inside, odd titles, a title used twice.
    let looping = graph(["x"])
        .edges([(START, "x")])
        .route("x", &[("again", &["x"]), ("done", &[END])]);
    let mid = graph(["in \"ner\""])
        .subgraph("in \"ner\"", &looping)
        .chain(&[START, "in \"ner\"", END]);
    let top = graph(["mid", "x", "end"])
        .subgraph("mid", &mid)
        .subgraph("x", &mid)
        .subgraph("end", &two_steps())
        .chain(&[START, "mid", "x", "end", END]);
    let text = lines(&top, ALL);
    let opens: Vec<_> = text
        .iter()
        .filter(|line| line.starts_with("subgraph "))
        .collect();
    assert_eq!(
        opens,
        [
            "subgraph \\65nd[\"end\"]",
            "subgraph mid",
            "subgraph mid\\3ain\\20\\22ner\\22[\"in #quot;ner#quot;\"]",
            "subgraph x",
            "subgraph x\\3ain\\20\\22ner\\22[\"in #quot;ner#quot;\"]",
        ]
    );
    assert_eq!(
        text.iter().filter(|line| *line == "end").count(),
        opens.len()
    );
    let again =
        "mid\\3ain\\20\\22ner\\22\\3ax -. &nbsp;again&nbsp; .-> mid\\3ain\\20\\22ner\\22\\3ax;";
    assert!(text.contains(&again.to_owned()), "{text:#?}");
}

#[test]
fn f8_titles_that_mermaid_would_misread_are_quoted() {
    for (name, line) in [
        ("my end", "subgraph my\\20end[\"my end\"]"),
        ("default", "subgraph \\64efault[\"default\"]"),
        ("`code`", "subgraph \\60code\\60[\"#96;code#96;\"]"),
        (
            "direction TB",
            "subgraph direction\\20TB[\"direction#32;TB\"]",
        ),
        ("数据 库", "subgraph 数据 库"),
    ] {
        let top = graph([name])
            .subgraph(name, &two_steps())
            .chain(&[START, name, END]);
        let text = lines(&top, 1);
        assert!(text.contains(&line.to_owned()), "{line}: {text:#?}");
    }
}

#[test]
fn f8_a_subgraph_that_never_ends_is_opened_too() {
    let forever = graph(["a"]).edges([(START, "a"), ("a", "a")]);
    let top = graph(["sub", "b"])
        .subgraph("sub", &forever)
        .chain(&[START, "sub", "b", END]);
    let text = lines(&top, 1).join("\n");
    assert!(text.contains("sub\\3a__end__ --> b;"), "{text}");
    assert!(text.contains("sub\\3aa --> sub\\3aa;"), "{text}");
    assert!(!text.contains("sub\\3aa --> sub\\3a__end__"), "{text}");
}

#[test]
fn a_graph_without_anything_is_a_start() {
    assert_eq!(
        lines(&graph([]), 0),
        ["__start__([<p>__start__</p>]):::first"]
    );
    assert_eq!(body(&graph([])), "graph TD;\n");
}

#[test]
fn lines_to_names_without_a_node_are_drawn() {
    let text = lines(&graph(["a"]).edges([(START, "a"), ("a", "ghost")]), 0);
    assert!(text.contains(&"ghost(ghost<hr/><small><em>unknown = True</em></small>)".to_owned()));
    assert!(text.contains(&"a --> ghost;".to_owned()), "{text:?}");
}
