//! Fields that are read before they are written, or written and never read.

use langgraph::error::NodeError;
use langgraph::graph::CompilationError;
use langgraph::policy::NodeFailure;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
struct Post {
    topic: String,
    draft: String,
    review: String,
    length: usize,
    #[reducer(append)]
    log: Vec<String>,
}

#[node]
async fn write(post: &Post, _: &Context) -> Result<PostUpdate, NodeError> {
    if post.topic.is_empty() {
        return Err(NodeError::msg("no topic"));
    }
    Ok(PostUpdate::default().draft(format!("{}: {}", post.topic, post.review)))
}

#[node]
async fn review(post: &Post) -> (PostUpdate, Next) {
    (
        PostUpdate::default().review(format!("{} is long", post.draft)),
        Next::End,
    )
}

#[node(writes(length))]
async fn measure(Post { draft, .. }: &Post) -> usize {
    draft.len()
}

fn show(post: &Post) -> String {
    format!("{post:?}")
}

/// Declares what `show` reads.
#[node(reads(topic, draft))]
async fn print(post: &Post) -> PostUpdate {
    PostUpdate::default().log(vec![show(post)])
}

#[node]
async fn trace(post: &Post) -> PostUpdate {
    PostUpdate::default().log(vec![show(post)])
}

#[node]
async fn note(word: String) -> PostUpdate {
    PostUpdate::default().log(vec![word])
}

fn lints(graph: &StateGraph<Post>) -> Vec<String> {
    graph.lints().iter().map(ToString::to_string).collect()
}

fn problems(graph: &StateGraph<Post>) -> Vec<String> {
    let found = graph.compile().err();
    let found = found.iter().flat_map(|errors| errors.iter());
    found.map(ToString::to_string).collect()
}

#[test]
fn q3_the_fields_that_a_function_uses_are_known() {
    let words = |post: &Post| vec![post.topic.clone()];
    let graph = graph! {
        START => write => measure => print => trace => for word in words { note(word) } => END;
    };
    let known = |name: &str| {
        let node = graph.topology().node(name).unwrap();
        let names = |names: Option<&Vec<String>>| names.map(|names| names.join(" "));
        (names(node.reads.as_ref()), names(node.may_write.as_ref()))
    };
    let some = |reads: &str, writes: &str| (Some(reads.to_owned()), Some(writes.to_owned()));
    assert_eq!(known("write"), some("topic review", "draft"));
    assert_eq!(known("measure"), some("draft", "length"));
    assert_eq!(known("print"), some("topic draft", "log"));
    assert_eq!(known("trace"), (None, Some("log".to_owned())));
    assert_eq!(known("note"), some("", "log"));
}

#[test]
fn q3_the_builder_reports_a_field_that_is_read_before_it_is_written() {
    let mut graph = StateGraph::new();
    graph.add_node("write", write).add_node("measure", measure);
    graph.add_sequence(&["write", "measure"]);
    assert_eq!(lints(&graph), [""; 0], "nothing is declared");
    graph.input_fields(["topic"]);
    let expected = "`write` reads `review`, and nothing has written it before: let a node before it \
                    write `review`, or name it in the graph's input";
    assert_eq!(lints(&graph), [expected]);
    assert!(graph.compile().is_ok(), "a lint is no error of the builder");
    graph.input_fields(["topic", "review"]);
    assert_eq!(lints(&graph), [""; 0]);
}

#[test]
fn q3_what_surrounds_a_node_may_write_any_field() {
    fn give_up(_: &Post, _: &NodeFailure) -> PostUpdate {
        PostUpdate::default().review("given up".to_owned())
    }
    let mut graph = StateGraph::new();
    graph.add_node("note", measure).add_node("write", write);
    graph
        .add_sequence(&["note", "write"])
        .input_fields(["topic", "draft"]);
    assert_eq!(lints(&graph).len(), 1);
    let mut graph = StateGraph::new();
    graph
        .add_node("note", measure.on_error(give_up))
        .add_node("write", write);
    graph
        .add_sequence(&["note", "write"])
        .input_fields(["topic", "draft"]);
    assert_eq!(lints(&graph), [""; 0]);
}

#[test]
fn q3_a_deferred_node_may_run_after_all_others() {
    let first = |deferred: bool| {
        let mut graph = StateGraph::new();
        graph.add_node("review", review);
        if deferred {
            graph.add_node("measure", measure.defer());
        } else {
            graph.add_node("measure", measure);
        }
        graph.add_node("write", write);
        graph.add_edge(START, "write").add_edge(START, "measure");
        graph.add_edge("write", "review").add_edge("measure", END);
        graph
            .add_destinations("review", [END])
            .input_fields(["topic", "review"]);
        lints(&graph)
    };
    assert_eq!(first(false).len(), 1, "both run at the first superstep");
    assert_eq!(first(true), [""; 0], "the draft is written by then");
}

#[test]
fn q3_graph_refuses_at_compile_what_rustc_cannot_see() {
    let graph = graph! {
        #![input(topic)]
        let write = write.retry(3);
        START => write => measure => END;
    };
    let found = problems(&graph);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("`write` reads `review`"), "{found:?}");
}

#[test]
fn q3_a_field_that_nothing_reads_is_refused_if_the_output_is_declared() {
    let graph = graph! {
        #![input(topic, review)]
        #![output(draft)]
        START => write => measure => END;
    };
    assert_eq!(
        problems(&graph),
        [
            "`measure` writes `length`, and nothing reads it: remove it, or name it in the graph's output"
        ]
    );
    let graph = graph! {
        #![input(topic, review)]
        #![output(length)]
        START => write => measure => END;
    };
    assert_eq!(problems(&graph), [""; 0], "`measure` reads the draft");
    // A node that may read anything reads the length too.
    let graph = graph! {
        #![input(topic, review)]
        #![output(log)]
        START => write => measure => trace => END;
    };
    assert_eq!(problems(&graph), [""; 0]);
}

#[test]
fn q3_an_unknown_field_of_the_input_is_refused() {
    let mut graph = StateGraph::new();
    graph.add_node("write", write).add_sequence(&["write"]);
    graph.input_fields(["topics", "review"]);
    let error = graph.compile().unwrap_err();
    assert!(matches!(
        error.as_slice(),
        [CompilationError::UnknownField { field, did_you_mean: Some(meant), .. }]
            if field == "topics" && meant == "topic"
    ));
}
