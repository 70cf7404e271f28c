//! Valid graphs with a token dropped, swapped or renamed, given to rustc itself: each compiles and
//! is a graph that the builder accepts, or there is an error at a token of it.
//!
//! `LANGGRAPH_MUTATIONS=2000 cargo test -p langgraph-tests --test ui mutated` tries more of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rustc;

/// What the graphs are made of.
const FIXTURE: &str = include_str!("mutations_fixture.rs");

/// Every construct; words and marks with a space between.
const GRAPHS: &[&str] = &[
    "START => a => b => END",
    "type State = S ; let a = a . retry ( 3 ) ; START => a => b => END ;",
    "START => a => [ b , c => d ] => e => END ;",
    "START => a => match route { Route :: Again => b => a , Route :: Write ( topics ) if loud => \
     for topic in topics { write ( topic ) } => c => END , _ => END } ;",
    "START => a => if done { END } else { b => a } ;",
    "START => a => if done { END } else if let Some ( _ ) = maybe { b => a } else if done { c } else \
     { a } ; c => END ;",
    "START => a => if let Some ( _ ) = maybe { [ b , c ] } else { END } ; [ b , c ] => d => END ;",
    "START => a => for topic in topics { write ( topic ) => b } => c => END ;",
    "START => planner => goto [ a , b , END ] ; a => planner ; b => END ;",
    "let second = nodes :: x ; START => nodes :: x => second => a => END ;",
    "START => match route { Route :: Again => [ a , b ] , Route :: Write ( _ ) => a , Route :: Done \
     => END } ; a => END ; b => END ;",
    "START => [ a , b ] ; a => c ; b => d ; [ c , d ] => e => match | s : & S | s . count > 3 { true \
     => END , false => [ a , b ] } ;",
    "START => [ a , b ] ; a | b => if done { END } else { c } ; c => END ;",
    "let turn = match route { Route :: Again => a , Route :: Write ( _ ) => b , Route :: Done => END } ; \
     START => turn ; a => c => turn ; b => turn ;",
];

/// Mutants of one crate; more would make one run of rustc large.
const BATCH: usize = 120;

#[test]
fn a_mutated_graph_compiles_or_has_an_error_at_a_token_of_it() {
    let count: usize = std::env::var("LANGGRAPH_MUTATIONS")
        .ok()
        .map_or(BATCH, |count| {
            count.parse().expect("LANGGRAPH_MUTATIONS is a number")
        });
    let mut random = fastrand::Rng::with_seed(11);
    let mut seen: BTreeSet<String> = GRAPHS.iter().map(|text| (*text).to_owned()).collect();
    let mut mutants = Vec::new();
    while mutants.len() < count {
        let text = GRAPHS[random.usize(..GRAPHS.len())];
        let mutant = mutate(text, &mut random);
        if seen.insert(mutant.clone()) {
            mutants.push(mutant);
        }
    }
    // The graphs themselves are right.
    let whole: Vec<String> = GRAPHS.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(accepted("whole", &whole), whole.len());
    let mut accepts = 0;
    for (batch, mutants) in mutants.chunks(BATCH).enumerate() {
        accepts += accepted(&format!("batch{batch}"), mutants);
    }
    println!("{accepts} of {count} mutated graphs are graphs");
    assert!(accepts < count, "no mutation did any harm");
}

/// Checks the graphs, and returns how many of them compile.
fn accepted(name: &str, graphs: &[String]) -> usize {
    let mut left: BTreeSet<usize> = (0..graphs.len()).collect();
    // An early error can keep rustc from looking at the rest, so what had none is tried again.
    loop {
        let program = Program::new(graphs, &left);
        let compiled = program.compile(name);
        if compiled.is_empty() {
            program.run(name);
            return left.len();
        }
        for (graph, errors) in compiled {
            assert!(
                left.remove(&graph),
                "an error outside of the graphs: {errors:#?}"
            );
            program.judge(graph, &graphs[graph], &errors);
        }
    }
}

/// A crate with one function per graph.
struct Program {
    text: String,
    /// Where each `graph!` stands.
    places: BTreeMap<usize, Range<usize>>,
}

/// An error, and where rustc underlines it.
#[derive(Debug)]
struct Error {
    message: String,
    primary: Vec<Range<usize>>,
}

impl Program {
    fn new(graphs: &[String], of: &BTreeSet<usize>) -> Self {
        let mut text = FIXTURE.to_owned();
        let mut places = BTreeMap::new();
        let mut main = String::new();
        for graph in of {
            write!(text, "\nfn graph_{graph}() -> StateGraph<S> {{ ").unwrap();
            let start = text.len();
            write!(text, "graph! {{ {} }}", graphs[*graph]).unwrap();
            places.insert(*graph, start..text.len());
            text.push_str(" }");
            write!(main, "report({graph}, graph_{graph}().compile());").unwrap();
        }
        write!(text, "\nfn main() {{ {main} }}\n").unwrap();
        Self { text, places }
    }

    /// The errors by graph; those of no graph are under a number that none has.
    fn compile(&self, name: &str) -> BTreeMap<usize, Vec<Error>> {
        let (file, program) = paths(name);
        std::fs::write(&file, &self.text).unwrap();
        let output = rustc::command()
            .args(["--error-format", "json", "--cap-lints", "allow"])
            .args(["--crate-name", "mutated", "--extern"])
            .arg(format!(
                "langgraph={}",
                rustc::library("langgraph").display()
            ))
            .arg("-o")
            .arg(program)
            .arg(file)
            .output()
            .unwrap();
        let mut errors: BTreeMap<usize, Vec<Error>> = BTreeMap::new();
        for line in String::from_utf8(output.stderr).unwrap().lines() {
            let diagnostic: serde_json::Value = serde_json::from_str(line).expect(line);
            let message = diagnostic["message"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            // The last line only counts the others.
            if diagnostic["level"] != "error" || message.starts_with("aborting due to") {
                continue;
            }
            let spans = diagnostic["spans"].as_array().into_iter().flatten();
            let primary = spans.filter(|span| span["is_primary"] == true).map(|span| {
                let place = |end: &str| usize::try_from(span[end].as_u64().unwrap()).unwrap();
                place("byte_start")..place("byte_end")
            });
            let primary: Vec<_> = primary.collect();
            let graph = primary.iter().find_map(|span| self.graph_at(span.start));
            let error = Error { message, primary };
            errors
                .entry(graph.unwrap_or(usize::MAX))
                .or_default()
                .push(error);
        }
        assert_eq!(errors.is_empty(), output.status.success(), "{errors:#?}");
        errors
    }

    fn graph_at(&self, byte: usize) -> Option<usize> {
        let mut places = self.places.iter();
        let found = places.find(|(_, place)| place.contains(&byte));
        found.map(|(graph, _)| *graph)
    }

    /// The errors of one graph are about tokens of it.
    fn judge(&self, graph: usize, text: &str, errors: &[Error]) {
        let place = &self.places[&graph];
        let show = || format!("{text}\n{errors:#?}");
        for error in errors {
            assert!(!error.message.contains("panicked"), "{}", show());
            let whole = |span: &Range<usize>| span.start <= place.start && span.end >= place.end;
            assert!(
                !error.primary.iter().any(whole),
                "the whole macro: {}",
                show()
            );
        }
    }

    /// What compiles is accepted by `compile()`, but for what no macro can see.
    fn run(&self, name: &str) {
        let (_, program) = paths(name);
        let output = Command::new(&program).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), self.places.len(), "{text}");
        for line in text.lines() {
            assert!(line.ends_with("accepted"), "{line}\n{}", self.text);
        }
        // They are large.
        std::fs::remove_file(program).unwrap();
    }
}

fn paths(name: &str) -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutations");
    std::fs::create_dir_all(&folder).unwrap();
    (folder.join(format!("{name}.rs")), folder.join(name))
}

/// Drops, doubles, swaps or renames words; brackets stay in pairs.
fn mutate(text: &str, random: &mut fastrand::Rng) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    for _ in 0..=random.usize(..2) {
        let place = random.usize(..words.len());
        if let Some(other) = partner(&words, place) {
            let (open, close) = (place.min(other), place.max(other));
            if random.bool() {
                words.remove(close);
                words.remove(open);
            } else {
                words.drain(open..=close);
            }
        } else {
            let single: Vec<usize> = (0..words.len())
                .filter(|at| partner(&words, *at).is_none())
                .collect();
            match random.u8(..4) {
                0 => drop(words.remove(place)),
                1 => words.insert(place, words[place]),
                2 => words.swap(place, single[random.usize(..single.len())]),
                _ => words[place] = NAMES[random.usize(..NAMES.len())],
            }
        }
        if words.is_empty() {
            return text.to_owned();
        }
    }
    words.join(" ")
}

const NAMES: &[&str] = &[
    "a", "e", "nod", "START", "END", "End", "route", "planner", "->", "=", ";", ",", "\"a\"",
    "write", "match", "goto", "topics", "S", "nodes", "Route",
];

/// Where the other bracket of a pair is.
fn partner(words: &[&str], place: usize) -> Option<usize> {
    let depth = |word: &&str| match *word {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    };
    let mut open = depth(&words[place]);
    let forwards = open == 1;
    let mut at = place;
    while open != 0 {
        at = if forwards { at + 1 } else { at - 1 };
        open += depth(&words[at]);
    }
    (at != place).then_some(at)
}
