//! Values that are nodes, and functions of `impl` blocks.

use langgraph::node::NodeRun;
use langgraph::prelude::*;

use super::writes::one_field;
use super::{Notes, NotesUpdate, say};

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

struct Desk;

#[node]
impl Desk {
    const STEP: i64 = 2;

    fn step(state: &Notes) -> i64 {
        state.count + Self::STEP
    }

    /// Counts on.
    #[node]
    async fn count(state: &Notes) -> NotesUpdate {
        tokio::task::yield_now().await;
        NotesUpdate::default().count(Self::step(state))
    }

    #[node(writes(log), alias = "note")]
    async fn write(Notes { count, .. }: &Notes, cx: &Context) -> Vec<String> {
        vec![format!("{} writes {count}", cx.node())]
    }

    #[node]
    fn check(state: &Notes) -> NotesUpdate {
        say(if state.count > Self::STEP {
            "much"
        } else {
            "little"
        })
    }

    #[node]
    async fn each(line: String) -> NotesUpdate {
        say(&line)
    }

    async fn run(&self, state: &Notes) -> NotesUpdate {
        NotesUpdate::default().count(Self::step(state) * 10)
    }
}

struct Generic<T>(T);

#[node]
impl<T: Default + Into<i64> + Send + Sync + 'static> Generic<T> {
    #[node]
    pub(crate) async fn add(state: &Notes) -> NotesUpdate {
        let value: T = Self::default();
        NotesUpdate::default().count(state.count + value.into())
    }

    fn default() -> T {
        T::default()
    }
}

#[tokio::test]
async fn functions_of_a_block_are_nodes_of_their_own() {
    let lines = |state: &Notes| vec![state.count.to_string(), "end".to_owned()];
    let graph = graph! {
        let desk = Desk;
        START => Desk::count
            => Desk::write
            => desk
            => Desk::check
            => for line in lines { Desk::each(line) }
            => Generic::<u8>::add
            => END;
    };
    let nodes = &graph.topology().nodes;
    let names: Vec<&str> = nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["count", "write", "desk", "check", "each", "add"]);
    assert_eq!(nodes[0].docs.as_deref(), Some("Counts on."));
    let writes = nodes[1].writes.as_deref().unwrap();
    assert_eq!(writes, ["log"]);
    let state = graph.compile().unwrap().invoke(Notes::default()).await;
    let state = state.unwrap();
    assert_eq!(state.count, 40);
    assert_eq!(state.log, ["write writes 2", "much", "40", "end"]);
    // They are functions still.
    assert_eq!(Desk::count(&state).await, NotesUpdate::default().count(42));
    assert_eq!(Desk::check(&state), say("much"));
    assert_eq!(Generic(1_u8).0, 1);
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
