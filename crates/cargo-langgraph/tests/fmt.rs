//! `cargo langgraph fmt` on graphs of every form, and on the graphs of this repository.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests are tests

use std::fs;
use std::path::Path;
use std::process::Command;

use cargo_langgraph::fmt::{Formatted, Style, format_paths, format_source};
use proc_macro2::{TokenStream, TokenTree};

fn format(text: &str) -> Formatted {
    format_source(text, &Style::default()).unwrap()
}

/// Formats the body of a graph in a function; what comes out must come out again.
fn body(text: &str) -> String {
    let file = format!("fn f() {{\n    let graph = graph! {{{text}}};\n}}\n");
    let once = format(&file);
    assert_eq!(once.graphs[0].left, None, "{file}");
    assert_eq!(format(&once.text).text, once.text);
    let text = once
        .text
        .strip_prefix("fn f() {\n    let graph = graph! {")
        .unwrap();
    text.strip_suffix("};\n}\n").unwrap().to_owned()
}

/// All tokens of a text, without their places.
fn tokens(text: &str) -> Vec<String> {
    fn collect(stream: TokenStream, found: &mut Vec<String>) {
        for tree in stream {
            if let TokenTree::Group(group) = tree {
                found.push(format!("open {:?}", group.delimiter()));
                collect(group.stream(), found);
                found.push("close".to_owned());
            } else {
                found.push(tree.to_string());
            }
        }
    }
    let mut found = Vec::new();
    collect(text.parse().unwrap(), &mut found);
    found
}

#[test]
fn spaces_and_indentation_are_set() {
    let formatted = body(
        "
  type State = Chat ;
      let think=think.retry(3) ;


        START=>think =>match next{
        Next::Act  => act=>think,
            Next::Stop=>END ,
        };
 a|b=>if  done {END} else{a};
        c => for item  in items{work( item )=>d} => [e,f] => goto[a,END];
    ",
    );
    assert_eq!(
        formatted,
        "
        type State = Chat;
        let think=think.retry(3);

        START => think => match next {
            Next::Act => act => think,
            Next::Stop => END,
        };
        a | b => if done { END } else { a };
        c => for item in items { work( item ) => d } => [e, f] => goto [a, END];
    "
    );
}

#[test]
fn a_graph_on_one_line_stays_there_if_it_fits() {
    assert_eq!(
        body("type State=i64;START=>a=>END"),
        " type State=i64; START => a => END "
    );
    let long = "type State = SomeStateWithALongName; START => first_node => second_node => END;";
    let opened = body(long);
    assert_eq!(
        opened,
        "
        type State = SomeStateWithALongName;
        START => first_node => second_node => END;
    "
    );
}

#[test]
fn a_long_chain_breaks_before_its_arrows() {
    let formatted = body(
        "
        START => read_the_letter => look_up_the_sender => write_an_answer => for topic in topics { check(topic) } => END;
        a => match where_to_go_from_here_with_a_long_name { Where::Here => first_node_of_all, Where::There => END };
    ",
    );
    assert_eq!(
        formatted,
        "
        START => read_the_letter
            => look_up_the_sender
            => write_an_answer
            => for topic in topics { check(topic) }
            => END;
        a => match where_to_go_from_here_with_a_long_name {
            Where::Here => first_node_of_all,
            Where::There => END
        };
    "
    );
}

#[test]
fn lines_that_the_author_began_stay() {
    let text = "
        START => a
            => b
            => if done {
                END
            } else {
                [
                    c => d,
                    e,
                ] => f
            };
        let turn = match whose_turn {
            Turn::Ours => a,
            Turn::Theirs => END,
        };
    ";
    assert_eq!(body(text), text);
}

#[test]
fn comments_keep_their_places() {
    let text = "
        // A comment of its own, with graph! { a=>b } in it.
        type State = Chat; // behind an item

        let think = think(|state| {
            // in a closure
            state.text()
        }); /* a block */

        START => think => match next { // after a brace
            // before an arm
            Next::Act => act => think,   // behind an arm
            /* two
               lines */
            Next::Stop => END,
            // after the last arm
        };
        a => [
            b, // behind a chain
            c
        ] => d;
        d
            // before an arrow
            => e // behind a stage
            => END;
        // at the end
    ";
    assert_eq!(body(text), text);
}

#[test]
fn a_comment_without_room_leaves_the_graph_as_it_is() {
    let text = "fn f() { graph! { START => /* here */ a=>END }; }";
    let formatted = format(text);
    assert_eq!(formatted.text, text);
    assert!(
        formatted.graphs[0]
            .left
            .as_ref()
            .unwrap()
            .contains("a comment")
    );
}

#[test]
fn what_does_not_parse_is_left_as_it_is() {
    let text =
        "fn f() {\n graph! { START => a  =>=> END };\n graph! {START=>a}; other::graph! {a=>b}; }";
    let formatted = format(text);
    assert!(formatted.text.contains("{ START => a  =>=> END }"));
    assert!(formatted.text.contains("{ START => a }"));
    assert!(formatted.text.contains("{a=>b}"));
    assert!(
        formatted.graphs[0]
            .left
            .as_ref()
            .unwrap()
            .starts_with("line 2: ")
    );
    assert!(format_source("fn f() {", &Style::default()).is_err());
}

#[test]
fn values_of_lets_move_as_a_whole_but_lines_of_strings_do_not() {
    let text = "fn f() {
    graph! {
            let a = Ask::new(
                \"one
  two\",
            );
            let inner = graph! {
                   START=>a;
            };
        START => a;
    };
}
";
    let formatted = format(text);
    assert_eq!(
        formatted.text,
        "fn f() {
    graph! {
        let a = Ask::new(
            \"one
  two\",
        );
        let inner = graph! {
            START => a;
        };
        START => a;
    };
}
"
    );
    assert_eq!(format(&formatted.text).text, formatted.text);
}

#[test]
fn line_endings_tabs_and_widths_are_those_of_the_file_and_of_rustfmt() {
    let text = "fn f() {\r\n\tgraph! {\r\n  START=>a=>END;\r\n};\r\n}\r\n";
    let mut style = Style::default();
    style.hard_tabs = true;
    let formatted = format_source(text, &style).unwrap().text;
    assert_eq!(
        formatted,
        "fn f() {\r\n\tgraph! {\r\n\t\tSTART => a => END;\r\n\t};\r\n}\r\n"
    );

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("src/main.rs");
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(
        folder.path().join("rustfmt.toml"),
        "max_width = 30\ntab_spaces = 2\n",
    )
    .unwrap();
    fs::write(
        &file,
        "fn f() {\n  graph! {\n    START => abcd => abcdef => END;\n  };\n}\n",
    )
    .unwrap();
    let paths = [folder.path().to_owned()];
    assert_eq!(format_paths(&paths, true).unwrap().changed.len(), 1);
    assert_eq!(format_paths(&paths, false).unwrap().changed.len(), 1);
    assert!(format_paths(&paths, true).unwrap().changed.is_empty());
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("\n    START => abcd\n      => abcdef\n      => END;\n"),
        "{text}"
    );
    fs::write(folder.path().join("rustfmt.toml"), "max_width = \"wide\"").unwrap();
    let error = format_paths(&paths, true).unwrap_err().to_string();
    assert!(
        error.ends_with("`max_width` must be a whole number, found a string"),
        "{error}"
    );
}

#[test]
fn the_graphs_of_this_repository_keep_their_tokens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut graphs = 0;
    let hidden = |name: &str| name.starts_with('.') || name == "target" || name == "node_modules";
    let files = walkdir::WalkDir::new(root)
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !hidden(&entry.file_name().to_string_lossy()));
    for entry in files {
        let entry = entry.unwrap();
        if entry
            .path()
            .extension()
            .is_none_or(|extension| extension != "rs")
        {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        if !text.contains("graph!") {
            continue;
        }
        let Ok(formatted) = format_source(&text, &Style::default()) else {
            continue;
        };
        let place = entry.path().display();
        assert_eq!(tokens(&formatted.text), tokens(&text), "{place}");
        assert_eq!(
            format(&formatted.text).text,
            formatted.text,
            "{place} is formatted again"
        );
        // What rustc is to refuse may not parse, and graphs that macros make have holes.
        let refused = ["/fail/", "/tests/ui/"]
            .iter()
            .any(|part| place.to_string().contains(part))
            || text.contains("quote!")
            || text.contains("macro_rules!");
        for graph in &formatted.graphs {
            assert!(refused || graph.left.is_none(), "{place}: {graph:?}");
        }
        graphs += formatted.graphs.len();
    }
    assert!(graphs > 250, "{graphs} graphs");
}

#[test]
fn the_command_fails_on_a_graph_that_is_not_formatted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("main.rs");
    fs::write(&file, "fn f() {\n    graph! {START=>a};\n}\n").unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-langgraph"))
            .arg("langgraph")
            .arg("fmt")
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (ok, output) = run(&["--check"]);
    assert!(!ok);
    assert_eq!(output.trim(), "./main.rs:2: not formatted");
    assert!(run(&[]).0);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "fn f() {\n    graph! { START => a };\n}\n"
    );
    assert_eq!(run(&["--check"]), (true, String::new()));
    assert!(!run(&["missing.rs"]).0);
}
