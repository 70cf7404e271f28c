//! DOT files.

use super::mermaid::{agent_loop, nested};
use super::{arm, graph};
use crate::{END, NodeKind, START};

#[test]
fn j13_graphviz_shows_nodes_routes_and_ends() {
    let mut agent = agent_loop();
    agent.0.name = "an \"agent\"".to_owned();
    assert_eq!(
        agent.0.draw().dot(),
        r##"digraph "an \"agent\"" {
	rankdir=TB;
	node [shape=box, style="rounded,filled", fillcolor="#f2f0ff"];
	"__start__" [label="__start__", shape=oval, style=solid];
	"agent" [label="agent"];
	"tools" [label="tools"];
	"__end__" [label="__end__", shape=oval, style=filled, fillcolor="#bfb6fc"];
	"__start__" -> "agent";
	"agent" -> "__end__" [style=dashed, label="finish"];
	"agent" -> "tools" [style=dashed, label="continue"];
	"tools" -> "agent";
}
"##
    );
}

#[test]
fn j13_graphviz_shows_joins_maps_and_marks() {
    let marked = graph(["a", "b", "c", "d", "r"])
        .edges([(START, "a"), (START, "b")])
        .join(&["a", "b"], "c")
        .branch("c", Some(vec![arm("", &["d"], true)]))
        .branch("d", None)
        .with("c", |c| {
            c.defer = true;
            c.max_attempts = 2;
        })
        .with("d", |d| d.kind = NodeKind::Worker)
        .with("r", |r| {
            r.kind = NodeKind::Remote {
                agent: "mail".to_owned(),
            }
        });
    let text = marked.0.draw().dot();
    for line in [
        "\t\"a\" -> \"c\" [style=bold];\n\t\"b\" -> \"c\" [style=bold];\n",
        "\t\"c\" -> \"d\" [arrowhead=normalnormal, label=\"for each\"];\n",
        "\t\"c\" [label=\"c\\ndefer = True\\nmax_attempts = 2\"];\n",
        "\t\"d\" [label=\"d\\nworker = True\"];\n",
        "\t\"r\" [label=\"r\\nagent = mail\"];\n",
        "\t\"d\" -> \"anywhere\" [style=dashed];\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let bare = marked.0.draw().with_styles(false).dot();
    assert!(bare.contains("\t\"c\" [label=\"c\"];\n"), "{bare}");
    assert!(!bare.contains("fillcolor"), "{bare}");
}

#[test]
fn f8_graphviz_frames_opened_subgraphs() {
    let closed = nested().0.draw().dot();
    assert!(
        closed.contains("\t\"mid\" [label=\"mid\", peripheries=2];\n"),
        "{closed}"
    );
    let text = nested().0.draw().xray(2).dot();
    let frames = r#"	subgraph cluster_0 {
		label="mid";
		"mid:prep" [label="prep"];
		subgraph cluster_1 {
			label="deep";
			"mid:deep:__start__" [label="__start__", shape=oval, style=solid];
			"mid:deep:think" [label="think"];
			"mid:deep:act" [label="act\n__interrupt = before"];
"#;
    assert!(text.contains(frames), "{text}");
    let line = "\t\"mid:deep:__end__\" -> \"mid:prep\" [style=dashed, label=\"redo\"];\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn f7_graphviz_strings_are_escaped() {
    let names = [
        "say \"hi\"",
        "back\\slash",
        "a&lt;b",
        "数据库 🚀",
        "two\nlines",
    ];
    let text = graph(names)
        .chain(&[names[0], names[1], END])
        .0
        .draw()
        .dot();
    for line in [
        r#""say \"hi\"" [label="say \"hi\""];"#,
        r#""back\\slash" [label="back\\slash"];"#,
        r#""a&lt;b" [label="a&amp;lt;b"];"#,
        r#""数据库 🚀" [label="数据库 🚀"];"#,
        r#""two\nlines" [label="two\nlines"];"#,
        r#""say \"hi\"" -> "back\\slash";"#,
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn an_empty_graph_is_valid_graphviz() {
    let text = graph([]).0.draw().with_styles(false).dot();
    assert_eq!(
        text,
        "digraph \"\" {\n\trankdir=TB;\n\t\"__start__\" [label=\"__start__\"];\n}\n"
    );
}
