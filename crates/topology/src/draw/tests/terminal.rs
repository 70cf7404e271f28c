//! Pictures in a terminal.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::mermaid::{agent_loop, nested};
use super::{Graph, arm, graph};
use crate::{END, START};

fn picture(graph: &Graph, depth: usize) -> String {
    graph.0.draw().xray(depth).terminal()
}

fn assert_shows(graph: &Graph, depth: usize, expected: &str) {
    let shown = picture(graph, depth);
    assert!(
        shown == expected.trim_start_matches('\n'),
        "shown:\n{shown}\nexpected:\n{expected}"
    );
}

#[test]
fn j13_a_loop_is_a_line_upwards_and_routes_are_dotted_and_named() {
    assert_shows(
        &agent_loop(),
        0,
        "
       ╭───────────╮
       │ __start__ │
       ╰─────┬─────╯
             ▼
         ┌───────┐
         │ agent │
         └┬───┬──┘
          ┊   ┊ ▲
     ┌┄┄┄┄┘   ┊ └────┐
   finish  continue  │
     ┊        └┐     │
     ▼         ▼     │
╭─────────╮   ┌──────┴┐
│ __end__ │   │ tools │
╰─────────╯   └───────┘
",
    );
}

#[test]
fn j13_a_map_is_marked_and_a_join_is_heavy() {
    let jokes = graph(["plan", "write", "fact", "judge", "best"])
        .edges([
            (START, "plan"),
            ("write", "fact"),
            ("write", "judge"),
            ("best", END),
        ])
        .branch("plan", Some(vec![arm("topic in topics", &["write"], true)]))
        .join(&["fact", "judge"], "best")
        .with("best", |best| best.defer = true);
    assert_shows(
        &jokes,
        0,
        "
     ╭───────────╮
     │ __start__ │
     ╰─────┬─────╯
           ▼
       ┌───────┐
       │ plan  │
       └───┬───┘
           │
for each topic in topics
           ▼
       ┌───────┐
       │ write │
       └┬─────┬┘
     ┌──┘     └──┐
     ▼           ▼
 ┌───────┐   ┌───────┐
 │ fact  │   │ judge │
 └───┰───┘   └───┰───┘
     ┃           ┃
     ▼           ▼
   ┌───────────────┐
   │     best      │
   │ defer = True  │
   └───────┬───────┘
           ▼
      ╭─────────╮
      │ __end__ │
      ╰─────────╯
",
    );
}

#[test]
fn f8_a_closed_subgraph_has_a_double_border_and_an_opened_one_is_a_box_of_boxes() {
    assert_shows(
        &nested(),
        0,
        "
╭───────────╮
│ __start__ │
╰─────┬─────╯
      ▼
  ┌───────┐
  │ first │
  └───┬───┘
      ▼
 ╔═════════╗
 ║  mid    ║
 ║ ↺ redo  ║
 ╚════╤════╝
      ┊
      ok
      ┊
      ▼
  ┌───────┐
  │ last  │
  └───┬───┘
      ▼
 ╭─────────╮
 │ __end__ │
 ╰─────────╯
",
    );
    assert_shows(
        &nested(),
        2,
        "
                 ╭───────────╮
                 │ __start__ │
                 ╰─────┬─────╯
                       ▼
                   ┌───────┐
                   │ first │
                   └───┬───┘
                       ▼
┌─ mid ───────────────────────────────────────┐
│                ╭───────────╮                │
│                │ __start__ │                │
│                ╰─────┬─────╯                │
│                      ▼                      │
│                  ┌───────┐                  │
│                  │ prep  │                  │
│                  └───┬───┘                  │
│                      ▼                      │
│ ┌─ deep ──────────────────────────────────┐ │
│ │                ╭───────────╮            │ │
│ │                │ __start__ │            │ │
│ │                ╰─────┬─────╯            │ │
│ │                      ▼                  │ │
│ │                  ┌───────┐              │ │
│ │                  │ think │              │ │
│ │                  └──┬───┬┘              │ │
│ │                   ▲ ┊   ┊               │ │
│ │                 ┌─┘┌┘   └┄┄┄┐           │ │
│ │                 │  go      done         │ │
│ │                 │  ┊        └┄┄┄┄┐      │ │
│ │                 │  ▼             ▼      │ │
│ │ ┌───────────────┴───────┐   ╭─────────╮ │ │
│ │ │         act           │   │ __end__ │ │ │
│ │ │ __interrupt = before  │   ╰─────────╯ │ │
│ │ └───────────────────────┘               │ │
│ └────────────────────┬────────────────────┘ │
│                      ▼                      │
│                 ╭─────────╮                 │
│                 │ __end__ │                 │
│                 ╰─────────╯                 │
│                   ↺ redo                    │
└──────────────────────┬──────────────────────┘
                       ┊
                       ok
                       ┊
                       ▼
                   ┌───────┐
                   │ last  │
                   └───┬───┘
                       ▼
                  ╭─────────╮
                  │ __end__ │
                  ╰─────────╯
",
    );
    let shut = nested().0.draw().xray(1).terminal();
    assert!(shut.contains("║ deep  ║"), "{shut}");
}

#[test]
fn f7_wide_characters_take_two_columns() {
    let wide = graph(["数据库", "e\u{301}té", "👩\u{200d}🚀 go\n!"])
        .chain(&[START, "数据库", "e\u{301}té", "👩\u{200d}🚀 go\n!"])
        .route("数据库", &[("再来一次", &["数据库"]), ("是", &[END])]);
    assert_shows(
        &wide,
        0,
        "
     ╭───────────╮
     │ __start__ │
     ╰─────┬─────╯
           ▼
    ┌─────────────┐
    │   数据库    │
    │ ↺ 再来一次  │
    └──┬─────┬────┘
       ▼     ┊
    ┌─────┐  ┊
    │ e\u{301}té │  是
    └──┬──┘  ┊
       ▼     ┊
┌─────────┐  ┊
│ 👩\u{200d}🚀 go ! │  ┊
└─────┬───┘  ┊
      │      ┊
      ▼      ▼
     ╭─────────╮
     │ __end__ │
     ╰─────────╯
",
    );
}

#[test]
fn j13_unknown_targets_and_an_empty_graph_have_a_terminal_picture() {
    assert_shows(
        &graph(["a"]).edges([(START, "a")]).branch("a", None),
        0,
        "
╭───────────╮
│ __start__ │
╰─────┬─────╯
      ▼
    ┌───┐
    │ a │
    └─┬─┘
      ┊
      ▼
╭┄┄┄┄┄┄┄┄┄┄┄╮
┊ anywhere  ┊
╰┄┄┄┄┄┄┄┄┄┄┄╯
",
    );
    assert_shows(
        &graph([]),
        0,
        "\n╭───────────╮\n│ __start__ │\n╰───────────╯\n",
    );
}

#[test]
fn j13_without_styles_the_terminal_picture_has_no_marks() {
    let marked = graph(["a"])
        .chain(&[START, "a"])
        .with("a", |a| a.max_attempts = 3);
    assert!(picture(&marked, 0).contains("max_attempts = 3"));
    assert!(
        !marked
            .0
            .draw()
            .with_styles(false)
            .terminal()
            .contains("max_attempts")
    );
}

/// Traces every line of a picture, from the box that it leaves to its arrow.
fn follow(picture: &str) -> Result<Vec<(String, String, Option<String>)>, String> {
    let rows: Vec<Vec<char>> = picture.lines().map(|line| line.chars().collect()).collect();
    let at = |x: usize, y: usize| {
        rows.get(y)
            .and_then(|row| row.get(x))
            .copied()
            .unwrap_or(' ')
    };
    // Returns the name of the box below or above a border.
    let name_in = |x: usize, y: usize| -> String {
        let is_side = |c: char| c == '│';
        let left = (0..x)
            .rev()
            .find(|x| is_side(at(*x, y)))
            .expect("a left side");
        let right = (x..x + 200)
            .find(|x| is_side(at(*x, y)))
            .expect("a right side");
        (left + 1..right)
            .map(|x| at(x, y))
            .collect::<String>()
            .trim()
            .to_owned()
    };
    let below = |x: usize, y: usize| name_in(x, y + 1);
    let above = |x: usize, mut y: usize| {
        y -= 1;
        while !"─┴┸".contains(at(x, y)) {
            y -= 1;
        }
        name_in(x, y + 1)
    };
    let mut found = Vec::new();
    for (y, row) in rows.iter().enumerate() {
        for (x, c) in row.iter().enumerate() {
            let (from, mut dy) = match c {
                '┬' | '┰' => (above(x, y), 1_isize),
                '┴' | '┸' => (below(x, y), -1),
                _ => continue,
            };
            let (mut x, mut y, mut dx, mut label) = (x, y, 0_isize, None);
            let to = loop {
                x = x.checked_add_signed(dx).ok_or("left the page")?;
                y = y.checked_add_signed(dy).ok_or("left the page")?;
                match (at(x, y), dx, dy) {
                    ('▼', 0, 1) => break below(x, y + 1),
                    ('▲', 0, -1) => break above(x, y - 1),
                    ('│' | '┊' | '┃', 0, _)
                    | ('─' | '┄' | '━', _, 0)
                    | ('┼' | '╋' | '┿' | '╂', ..) => {}
                    ('└' | '┗', 0, 1) | ('┌' | '┏', 0, -1) => (dx, dy) = (1, 0),
                    ('┘' | '┛', 0, 1) | ('┐' | '┓', 0, -1) => (dx, dy) = (-1, 0),
                    ('┐' | '┓', 1, 0) | ('┌' | '┏', -1, 0) => (dx, dy) = (0, 1),
                    ('┘' | '┛', 1, 0) | ('└' | '┗', -1, 0) => (dx, dy) = (0, -1),
                    (c, 0, _) if c.is_alphanumeric() => {
                        let is_text = |x: &usize| at(*x, y).is_alphanumeric();
                        let left = (0..=x).rev().take_while(is_text).last().unwrap_or(x);
                        let text = (left..).take_while(is_text).map(|x| at(x, y));
                        label = Some(text.collect::<String>());
                    }
                    (c, ..) => return Err(format!("`{c}` at column {x}, line {y}")),
                }
            };
            found.push((from, to, label));
        }
    }
    Ok(found)
}

fn lines_in(graph: &Graph) -> Vec<(String, String, Option<String>)> {
    let picture = super::super::picture::Picture::of(&graph.0, 0);
    let name = |place: usize| picture.nodes[place].name.clone();
    let lines = picture.lines.iter().filter(|line| line.from != line.to);
    lines
        .map(|line| (name(line.from), name(line.to), line.label.clone()))
        .collect()
}

fn assert_followable(graph: &Graph) {
    let shown = picture(graph, 0);
    let mut expected = lines_in(graph);
    let mut found = follow(&shown).unwrap_or_else(|problem| panic!("{problem}:\n{shown}"));
    expected.sort();
    found.sort();
    assert!(found == expected, "{found:#?}\n{expected:#?}\n{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn j13_every_line_of_a_terminal_picture_leads_where_the_graph_says(
        nodes in 1_usize..9,
        edges in proptest::collection::vec((0_usize..9, 0_usize..10, 0_usize..6), 0..22),
    ) {
        let names = ["a", "bb", "ccc", "dddddddd", "e", "ffffff", "g", "hh", "i"];
        let mut drawn = graph(names[..nodes].iter().copied()).edges([(START, "a")]);
        for (from, to, kind) in edges {
            let from = names[from % nodes];
            let to = if to == 9 { END } else { names[to % nodes] };
            drawn = match kind {
                0 => drawn.route(from, &[("short", &[to])]),
                1 => drawn.route(from, &[("averylonglabelindeed", &[to])]),
                2 => drawn.join(&[from, "a"], to),
                _ => drawn.edges([(from, to)]),
            };
        }
        // The labels of several joins contain spaces.
        let targets: Vec<_> = drawn.0.joins.iter().map(|join| join.target.clone()).collect();
        prop_assume!(targets.iter().collect::<BTreeSet<_>>().len() == targets.len());
        assert_followable(&drawn);
        prop_assert_eq!(picture(&drawn, 0), picture(&drawn, 0));
    }
}

#[test]
fn j13_wide_graphs_are_drawn_whole() {
    let names: Vec<String> = (0..60).map(|number| format!("worker{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let wide = graph(names.iter().copied().chain(["gather"]))
        .edges(names.iter().map(|name| (START, *name)))
        .join(&names, "gather");
    assert_followable(&wide);
}

#[test]
fn j13_long_chains_are_drawn_whole() {
    let names: Vec<String> = (0..3000).map(|number| format!("step{number}")).collect();
    let names: Vec<&str> = [START]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let long = graph(names[1..].iter().copied()).chain(&names);
    assert_eq!(picture(&long, 0).matches('▼').count(), 3001);
}
