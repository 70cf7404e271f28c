//! Half-written graphs: what a user sees while typing.

use proc_macro2::{Group, TokenStream, TokenTree};

use super::read_tokens;

const GRAPHS: &[&str] = &[
    "let turn = match r { R::A => a, R::B => b => turn, _ => END }; START => turn; a | d | c::e => turn; a => c::e; a => d;",
    "type State = Agent; let call = call.retry(3).timeout(secs(30)); \
     START => call => match next { Next::Tools => tools => call, Next::Answer => END, };",
    "START => plan => for topic in topics { write(topic) => check } => [a, judge => best] \
     => last => END;",
    "START => a => [b => if done { END } else { c => a }, d => goto [a, END]];",
    "START => a => match r { R::A(n) if n > 3 => [b, c] => d, R::B { x, .. } => for y in x \
     { w((y, 1)) } => END, _ => { END } } b => END; d => END;",
    "crate = ::graphs; let Some(x) = y else { return }; START => nodes::x::<u8> => if let Some(n) = next { END } \
     else if y.done { b => END } else if let [_, ..] = r { END } else { nodes::x };",
    "#[allow(unused)] let a: Node<S> = x; let (b, mut c) = pair(); START => [a, [b, c] => d] => e => match \
     |s: &S| s.kind() { | K::X | K::Y if let Some(n) = s => for (i, _) in n.iter() { w(i) => a } => END, \
     K::Z => [b, c => END], 3..=5 => END }",
];

/// Every way to stop typing: after each token, what is open is closed.
fn prefixes(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut all = vec![TokenStream::new()];
    let mut before = TokenStream::new();
    for tree in tokens.clone() {
        if let TokenTree::Group(group) = &tree {
            for inside in prefixes(&group.stream()) {
                let mut half = before.clone();
                half.extend([regroup(group, inside)]);
                all.push(half);
            }
        }
        before.extend([tree]);
        all.push(before.clone());
    }
    all
}

/// The same brackets around other tokens.
fn regroup(group: &Group, inside: TokenStream) -> TokenTree {
    let mut regrouped = Group::new(group.delimiter(), inside);
    regrouped.set_span(group.span());
    TokenTree::Group(regrouped)
}

/// Where the statement begins that is being written: behind the `;` before the last token.
fn unfinished(tokens: &TokenStream) -> usize {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let before = trees.split_last().map_or(&[][..], |(_, before)| before);
    let is_end = |tree: &TokenTree| matches!(tree, TokenTree::Punct(mark) if mark.as_char() == ';');
    let last = before.iter().rfind(|tree| is_end(tree));
    last.map_or(0, |mark| mark.span().byte_range().end)
}

/// True for an error that stands under a token, and not under the whole macro.
fn in_input(error: &syn::Error) -> bool {
    !error.span().byte_range().is_empty()
}

#[test]
fn a_half_written_graph_is_a_graph_or_one_mistake() {
    let mut broken = 0;
    for text in GRAPHS {
        let tokens: TokenStream = text.parse().unwrap();
        for half in prefixes(&tokens) {
            let text = half.to_string();
            let unfinished = unfinished(&half);
            let read = read_tokens(half);
            assert!(read.unread <= 1, "{text}\n{:#?}", read.errors.messages());
            if read.unread == 1 {
                // Nothing is said about what a graph leads to whose rest is not there yet.
                assert_eq!(
                    read.errors.len(),
                    1,
                    "{text}\n{:#?}",
                    read.errors.messages()
                );
                let at = read
                    .errors
                    .list()
                    .map(|error| error.span().byte_range().start);
                assert!(
                    at.min() >= Some(unfinished),
                    "not where it was written: {text}"
                );
                broken += 1;
            }
            for error in read.errors.list() {
                assert!(text.is_empty() || in_input(&error), "{text}\n{error}");
            }
            // It is a block all the same, which rustc can read.
            syn::parse2::<syn::Block>(read.expansion).expect(&text);
        }
    }
    assert!(broken > 100, "{broken}");
}

#[test]
fn what_was_written_before_a_mistake_is_kept() {
    let read = read_tokens("let a = x.retry(3); START => a => b => ".parse().unwrap());
    let text = read.expansion.to_string();
    for kept in [
        "let a = x . retry (3)",
        "add (& mut __graph , \"a\" , a)",
        "add (& mut __graph , \"b\" , b)",
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn a_let_that_cannot_be_read_costs_one_error() {
    let read = read_tokens("let a = ; START => a => b => END;".parse().unwrap());
    assert_eq!(read.errors.len(), 1);
    let text = read.expansion.to_string();
    assert!(!text.contains("add (& mut __graph , \"a\""), "{text}");
    assert!(text.contains("add (& mut __graph , \"b\""), "{text}");
}

/// Tokens dropped, doubled, swapped and renamed, without a plan.
#[test]
fn a_mutilated_graph_never_panics_and_always_expands() {
    fastrand::seed(7);
    for _ in 0..2_000 {
        let text = GRAPHS[fastrand::usize(..GRAPHS.len())];
        let mutated = mutate(&text.parse().unwrap(), 1 + fastrand::usize(..3));
        let text = mutated.to_string();
        let read = read_tokens(mutated);
        for error in read.errors.list() {
            assert!(text.is_empty() || in_input(&error), "{text}\n{error}");
        }
        syn::parse2::<syn::Block>(read.expansion).unwrap_or_else(|error| panic!("{error}: {text}"));
    }
}

fn mutate(tokens: &TokenStream, times: usize) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for _ in 0..times {
        if trees.is_empty() {
            break;
        }
        let place = fastrand::usize(..trees.len());
        if let TokenTree::Group(group) = &trees[place]
            && fastrand::bool()
        {
            let inside = mutate(&group.stream(), 1);
            trees[place] = regroup(group, inside);
            continue;
        }
        match fastrand::u8(..3) {
            0 => drop(trees.remove(place)),
            1 => {
                let double = trees[place].clone();
                trees.insert(place, double);
            }
            _ => {
                let other = fastrand::usize(..trees.len());
                trees.swap(place, other);
            }
        }
    }
    trees.into_iter().collect()
}

#[test]
fn five_hundred_edges_take_no_time() {
    let mut text = String::from("START => n0;");
    for node in 0..125 {
        let next = node + 1;
        text += &[
            format!("n{node} => match r {{ A => m{node}, B => n{next}, C => END }};"),
            format!("m{node} => [o{node}, p{node}] => n{next};"),
        ]
        .concat();
    }
    text += "n125 => END;";
    let tokens: TokenStream = text.parse().unwrap();
    // The best of several: a busy machine slows some of them, a quadratic rule all of them.
    let spent = (0..5).map(|_| {
        let start = std::time::Instant::now();
        let read = read_tokens(tokens.clone());
        assert_eq!(read.errors.messages(), [""; 0]);
        start.elapsed()
    });
    let best = spent.min().unwrap();
    assert!(best < std::time::Duration::from_secs(1), "{best:?}");
}
