//! One test per rule and per slip: the whole message, so that a change of words is seen.

use super::{read, reported};

#[track_caller]
fn says(text: &str, messages: &[&str]) {
    assert_eq!(reported(text), messages, "{text}");
}

#[test]
fn graphs_without_mistakes_say_nothing() {
    for text in [
        "START => a => END",
        "START => a => END;",
        "type State = S; START => a => b => END;",
        "type State = Outer<Inner>; let a = b.retry(3); START => a => END;",
        "let Some(a) = maybe() else { return None }; START => a => END;",
        "#[allow(unused)] let a: X = b; START => a => END;",
        "START => a => match r { R::A => b => a, R::B(n) if n > 3 => [b, c], _ => END };
         c => END;",
        "START => a => match |s: &S| s.kind() { R::A => { b => END } R::B => END } b => c => END;",
        "START => a => if done { END } else { b => a };",
        "START => a => if let Some(n) = next { END } else { b => a };",
        "START => a => if r { END } else if let Some(n) = q { b => a } else if p { c => END } else { a };",
        "let a = b; let a = a.retry(3); let r = |s: &S| s.done(); START => a => if r { END } else { a };",
        "let a = b; let _b = 3; let n = 3; START => a => match r { X if n > 3 => END, _ => a };",
        "let (a, B { c, .. }) = pair(); let n = 1; let m = f(\"{n}\"); START => a => [c, d]; [c, d] => END; let d = e(m);",
        "START => a => [b, c => d] => e => END;",
        "START => a => [[b, c] => d, e] => f => END;",
        "START => [a, b] => [c, d] => e => END;",
        "START => a => [b => match r { X => END, Y => c }, d => END]; c => END;",
        "START => a => [b, c] => END;",
        "START => plan => for topic in topics { write(topic) } => best => END;",
        "START => plan => for (i, t) in topics { write((i, t)) => check } => best => END;",
        "START => plan => match r { R::Go(ts) => for t in ts { write(t) } => END, R::Stop => END };",
        "START => plan => [for x in xs { w(x) }, for y in ys { v(y) }] => best => END;",
        "START => planner => goto [search, END]; search => planner;",
        "langgraph::START => nodes::a => Agent::b => <T as Nodes>::c => generic::<u8> => END;",
        "START => r#match => goto [END];",
        "START => a => match r { | X | Y => END, Z => a, };",
        "START => a => [b, c]; a | b | c => match r { X => d, Y => END }; d => END;",
        "START => [a, b]; a | b => c => END;",
        "START => a => [b, c]; b | c => goto [a, END];",
        "START => [a, b]; a | b => for x in xs { w(x) } => c => END;",
        "START | a => if left { a } else { END };",
        "let turn = match r { X => a, Y => b => turn, Z => END }; START => turn; a => turn;",
        "let turn = if done { END } else { a }; START => a; a | b => turn; a => b;",
        "let a = match mode { Fast => b, Slow => c }; START => a => END;",
        "let turn = match r { X => a, Y => b }; START => turn; a | b => END;",
        "let turn = match r { X => a, Y => END }; let a = a.retry(3); START => turn; a => turn;",
    ] {
        assert_eq!(reported(text), [""; 0], "{text}");
    }
}

#[test]
fn no_entry_point() {
    let entry = "the graph has no entry point: begin a chain with `START => a`";
    says("", &[entry]);
    says("a => b => END", &[entry]);
    says(
        "x => goto [END];",
        &["the graph has no entry point: begin a chain with `START => x`"],
    );
}

#[test]
fn duplicate_node() {
    says(
        "START => a::plan => b::plan => END",
        &[
            "two nodes are called `plan`: give this one another name with \
             `let other_plan = …;`",
            "the first `plan` is here",
        ],
    );
}

#[test]
fn end_as_source() {
    says(
        "START => a => END => b => END",
        &[
            "`END` ends a branch, so nothing can follow it: remove this edge to `b`, or put a `;` \
           behind `END`",
        ],
    );
    assert_eq!(
        reported("START => a => END; END => match r { X => a }").len(),
        1
    );
}

#[test]
fn start_as_target() {
    let start = "`START` is where a run begins, so no edge can lead to it: for a loop, name the \
                 node to go back to";
    says("START => a => START", &[start]);
    says("START => a => [b => END, START => c => END]", &[start]);
    says("START => a => match r { X => START, Y => END }", &[start]);
    says("START => a => goto [START, END]", &[start]);
}

#[test]
fn start_in_join() {
    says(
        "[START, a] => b => END; START => a;",
        &["`START` cannot be waited for: give what follows an edge from `START` of its own"],
    );
}

#[test]
fn reserved_name() {
    says(
        "START => __end__ => END",
        &["`__end__` is reserved: give the node a name with `let other = __end__;`"],
    );
}

#[test]
fn worker_without_item() {
    let note = "`w` is given its items here";
    let error = "`w` takes an item, and this edge has none to give";
    says(
        "START => a => for x in xs { w(x) } => END; START => w;",
        &[error, note],
    );
    says(
        "START => a => for x in xs { w(x) } => END; [a, b] => w; START => b;",
        &[error, note],
    );
    says(
        "START => a => match r { X => w, Y(xs) => for x in xs { w(x) } => END };",
        &[error, note],
    );
}

#[test]
fn unused_let() {
    says(
        "let b = a.retry(3); START => a => END;",
        &["no chain names `b`: connect it, or remove this `let`"],
    );
    says(
        "let searcher = search.retry(3); START => search => END;",
        &[
            "no chain names `searcher`: did you mean it by `search`? if not, connect it, or remove \
             this `let`",
        ],
    );
    // The first `a` is hidden, and what is only around an unused name is used.
    says(
        "let a = x; let a = y; let (b, c) = (d, 1); let e = c; START => a => END;",
        &[
            "no chain names `a`: connect it, or remove this `let`",
            "no chain names `b`: connect it, or remove this `let`",
            "no chain names `e`: connect it, or remove this `let`",
        ],
    );
    // Nothing is said while some of the graph cannot be read.
    says(
        "let b = a; START => a =>;",
        &["expected a node, `[..]`, `match`, `if`, `for`, `goto [..]` or `END` after `=>`"],
    );
}

#[test]
fn empty_graph() {
    says(
        "START => END",
        &["the graph has no nodes: write one between `START` and `END`"],
    );
}

#[test]
fn duplicate_edge() {
    says(
        "START => a => END; START => a;",
        &[
            "duplicate edge `START => a`: remove one",
            "`START => a` is first written here",
        ],
    );
    says(
        "START => [a, b]; [a, b] => c => END; [b, a] => c;",
        &[
            "duplicate edge `[b, a] => c`: remove one",
            "`[b, a] => c` is first written here",
        ],
    );
    says(
        "START => a => match r { X => [b, b], Y => END }; b => END",
        &[
            "`b` is twice in this arm: remove one",
            "`b` is first written here",
        ],
    );
    says(
        "START => a => goto [END, END]",
        &[
            "`END` is twice in this list: remove one",
            "`END` is first written here",
        ],
    );
    // Two arms that lead to one node are two answers.
    says("START => a => match r { X => b, Y => b }; b => END", &[]);
}

#[test]
fn duplicate_join_source() {
    says(
        "START => a => END; [a, a] => b => END;",
        &[
            "`a` is twice in this group: remove one",
            "`a` is first written here",
        ],
    );
    // One mistake is reported once, although it makes two edges and a join.
    assert_eq!(read("START => [a, a] => b => END").errors.len(), 1);
    assert_eq!(read("START => [a, a] => [b, c] => END").errors.len(), 1);
    assert_eq!(read("START => [a, a] => END").errors.len(), 1);
    assert_eq!(read("START => a; [a, a] => END").errors.len(), 1);
}

#[test]
fn unreachable_node() {
    says(
        "START => a => END; b => c => END;",
        &["`b` can never run, and so neither can `c`: nothing leads to it from `START`"],
    );
    says(
        "START => a => END; b => END;",
        &["`b` can never run: nothing leads to it from `START`"],
    );
}

#[test]
fn dead_end() {
    says(
        "START => a => b",
        &["nothing follows `b`: add `=> END`, or `=>` and the next node"],
    );
    says(
        "START => a => match r { X => b, Y => END }",
        &["nothing follows `b`: add `=> END`, or `=>` and the next node"],
    );
    // rustc says that there is no `serach`; this is why nothing follows it.
    says(
        "START => search => match r { X => answer => serach, Y => END }",
        &[
            "nothing follows `serach`: did you mean `search`? if not, add `=> END`, or `=>` and \
             the next node",
        ],
    );
}

#[test]
fn cycle_without_exit() {
    let never = |cycle: &str| {
        format!(
            "the cycle `{cycle}` never ends: let a `match` after one of its nodes choose between \
             going on and `END`"
        )
    };
    says("START => a => b => a", &[&never("a => b => a")]);
    says("START => a => a; a => END", &[&never("a => a")]);
    says(
        "START => a => match r { X => b, Y => c }; [b, c] => d => a;",
        &[&never("a => b => d => a")],
    );
    says("START => a => b => a; b => goto [END]", &[]);
}

#[test]
fn join_on_own_downstream() {
    says(
        "START => a; [a, b] => c => match r { X => b, Y => END };",
        &[
            "`c` waits for `b`, but `b` only runs after `c`",
            "`c` waits for the whole group here",
        ],
    );
}

#[test]
fn join_on_exclusive_arms() {
    says(
        "START => a => match r { X => b, Y => c }; [b, c] => d => END;",
        &[
            "`d` waits for both `b` and `c`, but only one of them is ever started: write \
             `b => d; c => d;`",
            "this decides between them",
        ],
    );
}

#[test]
fn branch_end_in_group() {
    says(
        "START => [a => END, b] => c => END",
        &[
            "a branch that ends here is waited for: take it out of the group, or remove its `END`",
            "this waits for every chain of the group",
        ],
    );
}

#[test]
fn decision_in_group() {
    says(
        "START => [a => match r { X => END, Y => END }, b] => c => END",
        &[
            "`match` says itself where to go, so nothing can wait for it: take this chain out of \
             the group",
            "this waits for every chain of the group",
        ],
    );
}

#[test]
fn decision_after_group() {
    says(
        "START => [a, b] => match r { X => END, Y => END }",
        &[
            "`match` decides after one node, and the group before it has several: join them in a \
           node first, as in `[a, b] => c => …`; to decide after each, write `a | b => …`",
        ],
    );
}

#[test]
fn decision_first() {
    says(
        "START => a => match r { X => if q { END } else { END }, Y => END }",
        &["`if` decides after a node: let this arm lead to a node first"],
    );
    says(
        "START => a => END; [match r { X => END }] => b",
        &["`match` decides after a node: write the node, or `START`, and `=>` before it"],
    );
}

#[test]
fn goto_after_start() {
    says(
        "START => goto [a]; START => a => END",
        &["`goto` lists where a node may go, and `START` is none: write the edges, or a `match`"],
    );
}

#[test]
fn map_in_group() {
    says(
        "START => a => match r { X(xs) => [b, for x in xs { w(x) }] => END, Y => END }",
        &["a `for` in an arm stands alone: start the other nodes after it"],
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let messages = reported(
        "START => a => START; b => END => c; START => __end__ => END; x::y => y => END; \
         START => a;",
    );
    assert_eq!(messages.len(), 7, "{messages:#?}");
}

mod slips {
    use super::says;

    const STAGES: &str = "a node, `[..]`, `match`, `if`, `for`, `goto [..]` or `END`";

    #[test]
    fn arrows() {
        says("START -> a => END", &["expected `=>`, found `->`"]);
        says("START => a = END", &["expected `=>`, found `=`"]);
        says("START >> a => END", &["expected `=>`, found `>>`"]);
        says("START --> a => END", &["expected `=>`, found `-->`"]);
        says(
            "START => a => match r { X -> END, Y => END }",
            &["expected `=>`, found `->`"],
        );
        says(
            "START => a => match r { X = END, Y => END }",
            &["expected `=>`, found `=`"],
        );
    }

    #[test]
    fn nothing_after_an_arrow() {
        let message = format!("expected {STAGES} after `=>`");
        says("START => a =>", &[&message]);
        says("START => a => ; b => END;", &[&message]);
        says("START => [a =>, b] => END;", &[&message]);
        says(
            "START => a => match r { X => , Y => END }",
            &["expected where this answer leads after `=>`: a node, `[..]`, `for` or `END`"],
        );
        says("=> a => END", &["expected a node or `START` before `=>`"]);
    }

    #[test]
    fn arms_without_a_target() {
        says(
            "START => a => match r { X, Y => END }",
            &["expected `=>` and where this answer leads: a node, `[..]`, `for` or `END`"],
        );
        says(
            "START => a => match r {}",
            &["this `match` has no arms: say where each answer leads, as in `Route::Done => END,`"],
        );
        says(
            "START => a => match r { X => a; Y => END }",
            &["expected `=>`, or `,` between two chains of a `match`, found `;`"],
        );
        says(
            "START => a => match r { X => { }, Y => END }",
            &["expected where an arm leads in these braces: a node or `END`"],
        );
    }

    #[test]
    fn one_missing_mark_is_one_error() {
        says(
            "let a = a retry(3); START => a => END",
            &["expected `;` after a `let`"],
        );
        says(
            "let a = a.retry(3) START => a => END",
            &["expected `;` after a `let`"],
        );
        says(
            "START => a => END b",
            &["expected `=>`, or `;` between two chains, found `b`"],
        );
    }

    #[test]
    fn missing_brackets() {
        let message = "nodes that run side by side stand in brackets, as in `[a, b] => c`; chains \
                       end with `;`";
        says("a, b => c; START => c", &[message]);
        says("START => a, b => END", &[message]);
        says(
            "START => (a, b) => END",
            &["nodes that run side by side stand in brackets, as in `[a, b]`"],
        );
        says(
            "START => [] => END",
            &["this group is empty: name at least one node in it"],
        );
    }

    #[test]
    fn strings_and_other_values() {
        says(
            "START => \"agent\" => END",
            &["a node is a name that is in scope, not a string: write `agent`"],
        );
        says(
            "START => 3 => END",
            &[&format!("expected {STAGES}, found `3`")],
        );
        says(
            "START => &agent => END",
            &["a node is given by its name alone: remove the `&`"],
        );
        says(
            "START => |s: &S| s.x => END",
            &[
                "a closure needs a name here: give it one with `let name = |state: &State| …;` \
               before the chains",
            ],
        );
        says(
            "START => agent() => END",
            &[
                "a node is named here, not called: write `agent`; a value with options gets its \
               own name, as in `let agent = agent.retry(3);`",
            ],
        );
        says(
            "START => agent.retry(3) => END",
            &[
                "only a name can stand here; give the value one with `let agent = …;` before the \
               chains",
            ],
        );
    }

    #[test]
    fn start_and_end_have_one_spelling() {
        says(
            "Start => a => End",
            &[
                "`Start` is written `START` here",
                "`End` is written `END` here",
            ],
        );
    }

    #[test]
    fn a_missing_semicolon() {
        says(
            "START => a => END b => END",
            &["expected `=>`, or `;` between two chains, found `b`"],
        );
        says(
            "START => [a b] => END",
            &["expected `=>`, or `,` between two chains in a group, found `b`"],
        );
        says(
            "let a = b START => a => END",
            &["expected `;` after a `let`"],
        );
        says(
            "type State = S START => a => END",
            &["expected `;` after `type State = …`"],
        );
    }

    #[test]
    fn statements() {
        says("let", &["expected a name after `let`"]);
        says(
            "let = 3; START => a => END",
            &["expected a name after `let`"],
        );
        says(
            "let a; START => a => END",
            &["expected `=` and a value, as in `let a = b.retry(3);`"],
        );
        says(
            "let a = ; START => a => END",
            &["expected a value after `=`"],
        );
        says(
            "type Stat = S; START => a => END",
            &["the state of a graph is given as `type State = …;`, found `type Stat`"],
        );
        says(
            "type State = ; START => a => END",
            &["expected a type after `=`"],
        );
        says(
            "type State = S; type State = S; START => a => END",
            &["the state of a graph is given once; remove this line"],
        );
        says(
            "fn x() {} START => a => END",
            &["`fn` cannot stand in `graph!`: it holds chains, `let`s and `type State`"],
        );
    }

    #[test]
    fn the_crate() {
        says(
            "crate = ; START => a => END",
            &["expected the path of the runtime crate, as in `crate = ::my_langgraph;`"],
        );
        says(
            "crate = ::x START => a => END",
            &["expected `;` after `crate = …`"],
        );
    }

    #[test]
    fn loops_of_other_languages() {
        says(
            "START => loop { a }",
            &["a loop is written as an edge back to the node where it begins, as in `b => a`"],
        );
        says(
            "START => a => match r { X => break, Y => END }",
            &["the end of a branch is written `END`"],
        );
    }

    #[test]
    fn chains_of_one() {
        says(
            "a; START => a => END",
            &[
                "a node alone is no chain: say what leads to it and what follows, as in \
               `START => a => END`",
            ],
        );
        says(
            "START",
            &["expected `=>` and what follows, as in `START => a => END`"],
        );
        says(
            "match r { X => END }",
            &["`match` decides after a node: write the node, or `START`, and `=>` before it"],
        );
    }

    #[test]
    fn decisions_end_their_chain() {
        says(
            "START => a => match r { X => END } => b => END",
            &["nothing can follow `match`: it says itself where to go"],
        );
        says(
            "START => a => goto [b] => b => END",
            &["nothing can follow `goto`: it says itself where to go"],
        );
    }

    #[test]
    fn halves_of_decisions() {
        says(
            "START => a => match",
            &["expected a router, a function of the state, after `match`"],
        );
        says(
            "START => a => match { X => END }",
            &["expected a router, a function of the state, after `match`"],
        );
        says(
            "START => a => match r",
            &["expected `{` after a router, a function of the state,"],
        );
        says(
            "START => a => if r { END }",
            &["this `if` needs an `else` that says where to go otherwise, as in `else { END }`"],
        );
        says(
            "START => a => if r { END } else if q { END }",
            &["this `if` needs an `else` that says where to go otherwise, as in `else { END }`"],
        );
        says(
            "START => a => if r { END } else if { END } else { END }",
            &["expected a router, a function of the state that answers `bool`, after `if`"],
        );
        says(
            "START => a => goto search",
            &["`goto` takes a list of the nodes that may follow, as in `goto [search, END]`"],
        );
        says(
            "START => a => goto []",
            &["expected the nodes that may follow, or `END`"],
        );
        says(
            "START => a => goto [b => c, END]",
            &["`goto` lists single nodes; what follows them is a chain of its own"],
        );
        says(
            "START => a => goto [[b], END]",
            &["`goto` lists nodes and `END`, found a group"],
        );
    }

    #[test]
    fn halves_of_maps() {
        let example = "as in `for topic in topics { write(topic) }`";
        let worker = "the node that takes the item, as in `write(topic)`";
        says(
            "START => for",
            &[&format!("expected a name after `for`, {example}")],
        );
        says(
            "START => for x",
            &[&format!("expected `in` and the items, {example}")],
        );
        says(
            "START => for x in",
            &["expected the items, a function of the state, after `in`"],
        );
        says("START => for x in xs {}", &[&format!("expected {worker}")]);
        says(
            "START => for x in xs { w } => END",
            &[&format!("expected {worker}")],
        );
        says(
            "START => for x in xs { w() } => END",
            &[&format!("expected the item in these parentheses: {worker}")],
        );
        says(
            "START => for x in xs { w(x, y) } => END",
            &[
                "a worker takes one item; give it several values as a tuple, as in \
               `write((topic, style))`",
            ],
        );
    }
}

#[test]
fn list_after_arrow() {
    let list = "`a | b` begins a chain, and says what comes after each of them: to start several \
                nodes, write `[a, b]`";
    says("START => a | b; a => END; b => END;", &[list]);
    says(
        "START => a => match r { X => a | b, Y => END }; b => END;",
        &[list],
    );
    says("START => a => [b | c, d] => e => END;", &[list]);
}

#[test]
fn twice_in_list() {
    let both = [
        "`a` leads there twice: remove one",
        "`a` is first written here",
    ];
    says("START => a; a | a => END;", &both);
    says(
        "let turn = match r { X => a, Y => END }; START => turn; a => turn; a => turn;",
        &both,
    );
}

#[test]
fn a_list_without_a_node() {
    says(
        "START => a => END; a | => b;",
        &["expected a node after `|`, as in `a | b => c`"],
    );
}

#[test]
fn a_decision_is_no_node() {
    says(
        "let turn = match r { X => a => END, Y => END }; START => turn => a; a => turn;",
        &["`turn` is a decision, which says itself where to go: it can only end a chain"],
    );
    says(
        "let turn = match r { X => a => END, Y => END }; START => turn; START => b => END;",
        &[""; 0],
    );
    says(
        "let turn = match r { X => a, Y => END }; START => a => END;",
        &["no chain names `turn`: connect it, or remove this `let`"],
    );
    says(
        "let turn = match r { X => a, Y => END }; START => [a => turn, b] => c => END;",
        &[
            "a decision says itself where to go, so nothing can wait for it: take this chain out of the group",
            "this waits for every chain of the group",
        ],
    );
}
