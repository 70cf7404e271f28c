//! `#[node]`: every form runs in a graph, and the function stays a function.

use langgraph::node::NodeRun;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Notes {
    #[reducer(append)]
    log: Vec<String>,
    count: i64,
}

#[derive(Debug)]
struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failed {}

fn say(text: &str) -> NotesUpdate {
    NotesUpdate::default().log(vec![text.to_owned()])
}

/// Adds a line.
///
/// And another.
#[node]
async fn by_ref(state: &Notes) -> NotesUpdate {
    say(&format!("by_ref after {}", state.log.len()))
}

#[node]
async fn with_context(_: &Notes, cx: &Context) -> NotesUpdate {
    say(cx.node())
}

#[node]
async fn by_value(mut state: Notes) -> Notes {
    state.log.push("by_value".to_owned());
    state
}

#[node]
async fn by_value_with_context(state: Notes, cx: &Context) -> (Notes, Next) {
    let mut state = state;
    state.log.push(cx.node().to_owned());
    (state, Next::Continue)
}

#[node]
async fn fallible(state: &Notes) -> Result<NotesUpdate, NodeError> {
    let count: i64 = "42".parse()?;
    tokio::task::yield_now().await;
    Ok(NotesUpdate::default().count(count + state.count))
}

#[node]
async fn jumping(_: &Notes) -> Result<(NotesUpdate, Next), Failed> {
    Ok((say("jumping"), Next::Continue))
}

#[node]
async fn commanding(_: &Notes) -> Command<Notes> {
    Command::update(say("commanding"))
}

#[node]
async fn silent(_state: &Notes) {}

#[node]
async fn named_lifetimes<'s, 'c>(state: &'s Notes, cx: &'c Context) -> NotesUpdate
where
    'c: 's,
{
    let longer: &'s str = if state.count > 0 { cx.node() } else { "none" };
    say(longer)
}

#[node]
async fn patterns(Notes { log, .. }: &Notes, _: &Context) -> NotesUpdate {
    say(&log.len().to_string())
}

#[node]
fn synchronous(_: &Notes) -> NotesUpdate {
    say("synchronous")
}

#[node]
async fn generic<T>(_: &Notes) -> NotesUpdate
where
    T: Default + std::fmt::Debug + Send + 'static,
{
    say(&format!("{:?}", T::default()))
}

#[tokio::test]
async fn c13_c14_d1_d2_d3_every_form_runs_in_one_graph() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("by_ref", by_ref)
        .add_node("with_context", with_context)
        .add_node("by_value", by_value)
        .add_node("by_value_with_context", by_value_with_context)
        .add_node("fallible", fallible)
        .add_node("jumping", jumping)
        .add_node("commanding", commanding)
        .add_node("silent", silent)
        .add_node("named_lifetimes", named_lifetimes)
        .add_node("patterns", patterns)
        .add_node("synchronous", synchronous)
        .add_node("generic", generic::<i16>.retry(2));
    let names: Vec<_> = graph
        .topology()
        .nodes
        .iter()
        .map(|node| node.name.clone())
        .collect();
    graph.add_sequence(&names);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Notes::default())
        .await
        .unwrap();
    assert_eq!(
        state.log,
        [
            "by_ref after 0",
            "with_context",
            "by_value",
            "by_value_with_context",
            "jumping",
            "commanding",
            "named_lifetimes",
            "7",
            "synchronous",
            "0",
        ]
    );
    assert_eq!(state.count, 42);
}

#[tokio::test]
async fn d1_a_node_is_called_like_any_function() {
    let state = Notes::default();
    assert_eq!(by_ref(&state).await, say("by_ref after 0"));
    assert_eq!(by_value(state.clone()).await.log, ["by_value"]);
    assert_eq!(fallible(&state).await.unwrap().count, Some(42));
    assert_eq!(generic::<u8>(&state).await, say("0"));
    let by_ref = by_ref.retry(3);
    let plan = |by_ref: String| by_ref;
    assert_eq!(plan("shadowed".to_owned()), "shadowed");
    let _ = by_ref;
}

#[test]
fn what_a_function_says_of_itself_is_kept() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("by_ref", by_ref)
        .add_node("jumping", jumping);
    let nodes = &graph.topology().nodes;
    assert_eq!(
        nodes[0].docs.as_deref(),
        Some("Adds a line.\n\nAnd another.")
    );
    assert!(!nodes[0].may_goto && nodes[1].may_goto);
}

#[node]
async fn one_item(item: u32) -> NotesUpdate {
    say(&item.to_string())
}

#[node]
async fn item_and_state(item: u32, state: &Notes) -> NotesUpdate {
    say(&format!("{item} of {}", state.count))
}

#[node]
async fn item_and_context(item: u32, cx: &Context) -> NotesUpdate {
    say(&format!("{item} in {}", cx.node()))
}

#[node]
async fn item_state_and_context(item: u32, state: &Notes, cx: &Context) -> NotesUpdate {
    say(&format!("{item} of {} in {}", state.count, cx.node()))
}

#[tokio::test]
async fn d3_a_worker_takes_an_item_and_what_it_asks_for() {
    let mut graph = StateGraph::<Notes>::new();
    let items = |_: &Notes| vec![1_u32];
    let a = graph.add_worker("a", one_item);
    let b = graph.add_worker("b", worker(item_and_state).retry(2));
    let c = graph.add_worker("c", item_and_context);
    let d = graph.add_worker("d", item_state_and_context);
    graph
        .add_map(START, items, &a)
        .add_map(START, items, &b)
        .add_map(START, items, &c)
        .add_map(START, items, &d);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Notes::default())
        .await
        .unwrap();
    assert_eq!(state.log, ["1", "1 of 0", "1 in c", "1 of 0 in d"]);
}

struct Greeter {
    greeting: String,
}

#[node]
impl Greeter {
    fn new(greeting: &str) -> Self {
        let greeting = greeting.to_owned();
        Self { greeting }
    }

    async fn run(&self, state: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
        tokio::task::yield_now().await;
        Ok(say(&format!(
            "{} {} from {}",
            self.greeting,
            state.count,
            cx.node()
        )))
    }
}

struct Counter<T>(T);

#[node]
impl<T: Copy + Into<i64>> Counter<T> {
    fn run(&self, state: Notes) -> Notes {
        Notes {
            count: state.count + self.0.into(),
            ..state
        }
    }
}

#[tokio::test]
async fn a_method_is_a_node() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("count", Counter(2_u8))
        .add_node("greet", Greeter::new("hello").retry(2))
        .add_sequence(&["count", "greet"]);
    assert!(!graph.topology().nodes[1].may_goto);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Notes::default())
        .await
        .unwrap();
    assert_eq!(state.log, ["hello 2 from greet"]);
}

#[node(writes(count))]
async fn one_field(state: &Notes) -> i64 {
    state.count + 1
}

#[node(writes(count, log), alias = "old_name", alias = "older_name")]
async fn two_fields(state: &Notes, cx: &Context) -> (i64, Vec<String>) {
    (state.count + 1, vec![cx.node().to_owned()])
}

#[node(writes(count))]
async fn fallible_field(state: &Notes) -> Result<i64, NodeError> {
    Ok(state.count + "1".parse::<i64>()?)
}

#[node(writes(count, log))]
async fn fields_and_a_jump(state: &Notes) -> Result<((i64, Vec<String>), Next), Failed> {
    let values = (state.count + 1, vec!["jump".to_owned()]);
    Ok((values, Next::Continue))
}

#[node(writes(log))]
fn synchronous_field(state: &Notes) -> Vec<String> {
    vec![format!("synchronous after {}", state.count)]
}

#[node(state = Notes, writes(log))]
async fn field_of_an_item(item: u8) -> Vec<String> {
    vec![item.to_string()]
}

struct Writer;

#[node(writes(log))]
impl Writer {
    /// Writes a line.
    async fn run(&self, state: &Notes) -> Vec<String> {
        vec![format!("method after {}", state.log.len())]
    }
}

#[tokio::test]
async fn what_a_node_writes_is_its_value() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("one_field", one_field)
        .add_node("two_fields", two_fields)
        .add_node("fallible_field", fallible_field)
        .add_node("fields_and_a_jump", fields_and_a_jump)
        .add_node("synchronous_field", synchronous_field)
        .add_node("method", Writer);
    let nodes = graph.topology().nodes.clone();
    let writes: Vec<_> = nodes.iter().map(|node| node.writes.clone()).collect();
    let fields = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(writes[0], fields(&["count"]));
    assert_eq!(writes[1], fields(&["count", "log"]));
    assert_eq!(writes[4], fields(&["log"]));
    assert_eq!(writes[5], fields(&["log"]));
    assert_eq!(nodes[5].docs.as_deref(), Some("Writes a line."));
    let jumps: Vec<_> = nodes.iter().map(|node| node.may_goto).collect();
    assert_eq!(jumps, [false, false, false, true, false, false]);
    let worker = graph.add_worker("worker", field_of_an_item);
    let names: Vec<_> = nodes.iter().map(|node| node.name.clone()).collect();
    graph
        .add_sequence(&names)
        .add_map(START, |_: &Notes| [7], &worker);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Notes::default())
        .await
        .unwrap();
    assert_eq!(state.count, 4);
    assert_eq!(
        state.log,
        [
            "7",
            "two_fields",
            "jump",
            "synchronous after 4",
            "method after 4"
        ]
    );
}

#[tokio::test]
async fn a_node_that_declares_its_writes_is_called_for_its_update() {
    let state = Notes::default();
    assert_eq!(one_field(&state).await, NotesUpdate::default().count(1));
    let update = synchronous_field(&state).await;
    assert_eq!(update.log.unwrap(), ["synchronous after 0"]);
}

macro_rules! counters {
    ($($name:ident: $state:ty = $step:literal;)*) => {$(
        #[node]
        async fn $name(state: &$state) -> NotesUpdate {
            NotesUpdate::default().count(state.count + $step)
        }
    )*};
}

counters! {
    one: Notes = 1;
    ten: Notes = 10;
}

#[tokio::test]
async fn d8_a_macro_may_write_nodes() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("one", one)
        .add_node("ten", ten)
        .add_sequence(&["one", "ten"]);
    assert_eq!(
        graph
            .compile()
            .unwrap()
            .invoke(Notes::default())
            .await
            .unwrap()
            .count,
        11
    );
}

#[tokio::test]
async fn d8_a_node_may_stand_in_a_function() {
    #[derive(State, Clone, Default)]
    struct Local {
        n: i64,
    }

    #[node]
    async fn local(state: &Local) -> LocalUpdate {
        LocalUpdate::default().n(state.n + 1)
    }

    #[node]
    fn sync_local(state: &Local, _: &Context) -> Local {
        Local { n: state.n * 2 }
    }

    let mut graph = StateGraph::<Local>::new();
    graph
        .add_node("local", local)
        .add_node("sync_local", sync_local)
        .add_sequence(&["local", "sync_local"]);
    assert_eq!(
        graph
            .compile()
            .unwrap()
            .invoke(Local::default())
            .await
            .unwrap()
            .n,
        2
    );
}

struct Counts;

#[node(writes(count))]
impl Counts {
    fn run(&self, state: &Notes) -> i64 {
        state.count + 1
    }
}

/// rustc sees what functions say; `compile()` sees the rest.
#[tokio::test]
async fn writers_of_one_field_side_by_side_do_not_compile() {
    let told = |graph: &StateGraph<Notes>| graph.compile().unwrap_err().to_string();
    let message = "the graph cannot be compiled: `first` and `second` run side by side, and each writes \
                   `count`, which has no reducer; give it one, or let one run after the other";
    let methods = graph! {
        let (first, second) = (Counts, std::sync::Arc::new(Counts));
        START => [first, second] => END;
    };
    assert_eq!(told(&methods), message);
    let options = graph! {
        let first = one_field.retry(2);
        let second = one_field.retry(2);
        START => [two_fields => first, synchronous_field => second] => END;
    };
    assert_eq!(told(&options), message);
    // A deferred node runs later, and what it writes is no conflict.
    let deferred = graph! {
        let second = Counts.defer();
        START => [one_field, second] => END;
    };
    let state = deferred.compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(state.count, 2);
    // The builder collects it.
    let mut by_hand = StateGraph::<Notes>::new();
    by_hand
        .add_node("first", one_field)
        .add_node("second", Counts)
        .add_edge(START, "first")
        .add_edge(START, "second")
        .add_edge(["first", "second"], END);
    let lints: Vec<_> = by_hand.lints().iter().map(ToString::to_string).collect();
    assert!(message.ends_with(&lints.concat()), "{lints:?}");
    let error = by_hand.compile().unwrap().invoke(()).await.unwrap_err();
    assert!(matches!(error, AgentError::InvalidUpdate(_)), "{error}");
    assert_eq!(told(by_hand.deny_lints()), message);
}

/// A node by hand, which jumps when there is something to count.
struct ByHand;

impl Node<Notes> for ByHand {
    fn run<'a>(&'a self, state: &'a Notes, _: &'a Context) -> NodeRun<'a, Notes> {
        let jump = (state.count > 0).then(|| Next::node("one_field"));
        NodeRun::ready((NotesUpdate::default(), jump.unwrap_or(Next::Continue)))
    }
}

#[tokio::test]
async fn a_node_by_hand_needs_a_goto_only_if_it_jumps() {
    let counted = || NotesUpdate::default().count(1);
    let still = graph! { START => one_field => END };
    assert!(still.compile().is_ok());
    let silent = graph! {
        let by_hand = ByHand;
        START => by_hand => one_field => END;
    };
    let silent = silent.compile().unwrap();
    assert_eq!(silent.invoke(()).await.unwrap().count, 1);
    let error = silent.invoke(counted()).await.unwrap_err().to_string();
    assert!(error.contains("`by_hand => goto [one_field];`"), "{error}");
    let declared = graph! {
        let by_hand = ByHand;
        START => by_hand => goto [one_field, END];
        one_field => END;
    };
    let declared = declared.compile().unwrap();
    assert_eq!(declared.invoke(counted()).await.unwrap().count, 2);
}

/// A state that keeps a log, whichever it is.
trait Logged: State {
    fn log(line: String) -> Self::Update;
}

impl Logged for Notes {
    fn log(line: String) -> NotesUpdate {
        say(&line)
    }
}

/// A node of any such state.
#[node]
async fn of_any_state<S: Logged>(_: &S, cx: &Context) -> Result<S::Update, NodeError> {
    Ok(S::log(cx.node().to_owned()))
}

#[tokio::test]
async fn a_node_that_is_generic_over_the_state_returns_its_update() {
    let graph = graph! { type State = Notes; START => of_any_state => END };
    let notes = graph.compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(notes.log, ["of_any_state"]);
}

#[tokio::test]
async fn an_error_in_a_box_is_given_back_as_it_was() {
    #[node]
    async fn fails(_: &Notes) -> Result<(), NodeError> {
        let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(Failed);
        Err(boxed).map_err(NodeError::boxed)
    }

    let graph = graph! { START => fails => END }.compile().unwrap();
    let Err(AgentError::Node { source, .. }) = graph.invoke(()).await else {
        panic!("the node fails");
    };
    assert!(source.downcast_ref::<Failed>().is_some());
}
