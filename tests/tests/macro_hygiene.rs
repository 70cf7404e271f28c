//! What the macros write is free of warnings, in the strictest crate there is, and needs no name
//! of its surroundings.
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    elided_lifetimes_in_paths,
    single_use_lifetimes,
    unused_qualifications,
    non_local_definitions,
    clippy::all,
    clippy::pedantic,
    clippy::shadow_unrelated,
    clippy::used_underscore_binding
)]

/// What is public is documented, and what is generated with it.
pub mod public {
    use langgraph::prelude::*;
    use langgraph_agent::prelude::*;

    /// A private type in a public state.
    #[derive(Clone, Debug, Default)]
    struct Hidden;

    /// What the graph knows.
    #[derive(State, Clone, Debug, Default)]
    pub struct Notes {
        /// The chat.
        #[reducer(add_messages)]
        pub messages: Vec<Message>,
        /// Lines.
        #[reducer(|mut old, new| { old.extend(new); old })]
        pub log: Vec<String>,
        #[state(ephemeral)]
        hidden: Hidden,
        is_done: bool,
        to_do: Option<String>,
        /// A sum.
        pub add: i64,
        #[reducer(newest)]
        _unused: i64,
    }

    fn newest(_: i64, update: i64) -> i64 {
        update
    }

    /// Any number of anything.
    #[derive(State, Clone, Debug, Default)]
    pub struct Generic<T: PartialOrd + Default> {
        /// The best.
        #[reducer(max)]
        pub best: T,
    }

    #[derive(State, Clone, Debug, Default)]
    struct Private {
        _never_read: i64,
    }

    /// Says something.
    #[node]
    pub async fn say(state: &Notes, _cx: &Context) -> NotesUpdate {
        let add = state.add + i64::from(state.is_done);
        NotesUpdate::default()
            .log(vec!["said".to_owned()])
            .add(add)
            .hidden(Hidden)
    }

    /// Says it again.
    #[node(writes(log, is_done))]
    pub async fn again(_: &Notes) -> Result<(Vec<String>, bool), NodeError> {
        tokio::task::yield_now().await;
        Ok((vec!["again".to_owned()], true))
    }

    /// Does nothing.
    #[node]
    pub fn rest(_: &Notes) {}

    /// Takes an item.
    #[node]
    pub async fn work(_item: u8, _state: &Notes, _: &Context) -> NotesUpdate {
        NotesUpdate::default()
    }

    #[node]
    async fn unused(_: &Private) -> PrivateUpdate {
        PrivateUpdate::default()
    }

    /// A node with a field.
    #[derive(Debug)]
    pub struct Repeat(pub usize);

    #[node]
    impl Repeat {
        async fn run(&self, _: &Notes) -> NotesUpdate {
            NotesUpdate::default().log(vec!["repeated".to_owned(); self.0])
        }
    }

    /// Borrows for a lifetime that has a name, and is generic.
    #[node]
    pub async fn keep<'a, S: State>(state: &'a S, _: &'a Context) -> S {
        state.clone()
    }

    /// Decides for itself.
    #[node]
    pub async fn decide(_: &Notes) -> Next {
        Next::node("say")
    }

    /// Where to go.
    #[derive(Clone, Copy, Debug)]
    pub enum Way {
        /// To the work.
        Work(u8),
        /// Home.
        Home,
    }

    /// Where to go.
    ///
    /// # Errors
    ///
    /// None.
    pub async fn way(_: &Notes) -> Result<Way, NodeError> {
        Ok(Way::Work(2))
    }

    /// The items.
    #[must_use]
    pub fn items(_: &Notes) -> Vec<u8> {
        vec![1, 2]
    }

    /// Every construct, where every warning is an error.
    #[must_use]
    pub fn graph() -> StateGraph<Notes> {
        graph! {
            type State = Notes;

            let repeat = Repeat(2).retry(2);
            let keep_on = keep;
            let last = rest;

            START => keep => decide => goto [say, rest];
            say => [again, super::modules::deep::count => rest] => keep_on => match way {
                Way::Work(count) if count > 1 => for item in items { work(item) } => repeat,
                Way::Work(_) => [repeat, last],
                Way::Home => END,
            };
            repeat => if |notes: &Notes| notes.is_done { last } else { END };
            last => END;
        }
    }

    /// Adds.
    ///
    /// # Errors
    ///
    /// When the sum does not fit.
    #[tool]
    pub async fn add(
        /// One.
        a: i64,
        #[tool(default = 1)] b: i64,
        _cx: &ToolContext<'_>,
    ) -> Result<i64, ToolError> {
        a.checked_add(b)
            .ok_or_else(|| ToolError::model("too large"))
    }

    /// The time.
    #[tool(return_directly)]
    pub fn now() -> String {
        "noon".to_owned()
    }
}

/// Nodes in modules, and made by `macro_rules!`.
pub mod modules {
    macro_rules! nodes {
        ($($name:ident: $field:ident = $value:expr),*) => {$(
            /// Writes a field.
            #[langgraph::node(writes($field))]
            pub async fn $name(_: &crate::public::Notes) -> i64 {
                $value
            }
        )*};
    }

    /// A module in a module.
    pub mod deep {
        nodes!(count: add = 3, count_on: add = 4);
    }
}

/// No prelude, and every name that an expansion might think of is something else.
#[allow(dead_code, missing_docs, missing_debug_implementations)]
mod shadowed {
    #![no_implicit_prelude]

    mod std {}
    mod core {}
    mod serde {}
    struct Option;
    struct Result;
    struct Vec;
    struct String;
    struct Box;
    struct Clone;
    struct Default;
    struct Send;
    struct Sync;
    struct From;
    struct State;
    struct Message;
    struct NodeError;
    struct NodeFuture;
    struct Some;
    struct None;
    struct Ok;
    struct Err;
    #[allow(non_camel_case_types)]
    struct str;
    #[allow(non_camel_case_types)]
    struct bool;
    #[allow(non_camel_case_types)]
    struct usize;

    type Text = ::std::string::String;

    #[derive(::langgraph::State, ::core::clone::Clone, ::core::default::Default)]
    pub(super) struct Shadowed {
        #[reducer(append)]
        pub(super) log: ::std::vec::Vec<Text>,
        #[reducer(add_messages)]
        messages: ::std::vec::Vec<::langgraph::message::Message>,
        #[state(ephemeral, untracked)]
        passing: Text,
        plain: i64,
    }

    fn line(text: &::core::primitive::str) -> ::std::vec::Vec<Text> {
        <[_]>::into_vec(::std::boxed::Box::new([::std::borrow::ToOwned::to_owned(
            text,
        )]))
    }

    #[::langgraph::node]
    pub(super) async fn by_ref(
        _: &Shadowed,
        cx: &::langgraph::Context,
    ) -> ::core::result::Result<ShadowedUpdate, ::langgraph::error::NodeError> {
        let update = <ShadowedUpdate as ::core::default::Default>::default();
        ::core::result::Result::Ok(update.log(line(cx.node())))
    }

    #[::langgraph::node(writes(log, plain), alias = "old")]
    pub(super) async fn by_value(_: &Shadowed) -> (::std::vec::Vec<Text>, i64) {
        (line("by_value"), 1)
    }

    #[::langgraph::node(writes(passing))]
    pub(super) async fn beside(_: &Shadowed) -> Text {
        <Text as ::core::default::Default>::default()
    }

    pub(super) fn graph() -> ::langgraph::StateGraph<Shadowed> {
        ::langgraph::graph! {
            START => [by_ref, by_value, beside] => method => END;
            let method = Method;
        }
    }

    pub(super) struct Method;

    #[::langgraph::node]
    impl Method {
        async fn run(&self, state: Shadowed) -> Shadowed {
            state
        }
    }
}

/// As above, as far as the derives of `serde` and `schemars` go along.
#[allow(dead_code)]
mod no_prelude {
    #![no_implicit_prelude]

    struct Option;
    struct Result;
    struct Vec;
    struct String;
    struct Default;
    struct Deserialize;

    type Text = ::std::string::String;

    /// Says something.
    #[::langgraph_agent::tool]
    pub(super) async fn say(
        /// What.
        text: Text,
        #[tool(default = 1)] times: u8,
    ) -> Text {
        text.repeat(times as ::core::primitive::usize)
    }
}

#[tokio::test]
async fn d8_the_macros_need_no_names_around_them() {
    use langgraph::prelude::*;
    use langgraph_agent::IntoTool;
    use langgraph_agent::prelude::*;

    let mut graph = StateGraph::<shadowed::Shadowed>::new();
    graph
        .add_node("by_ref", shadowed::by_ref)
        .add_node("by_value", shadowed::by_value)
        .add_node("method", shadowed::Method)
        .add_sequence(&["by_ref", "by_value", "method"]);
    let start = shadowed::Shadowed::default();
    let state = graph.compile().unwrap().invoke(start).await.unwrap();
    assert_eq!(state.log, ["by_ref", "by_value"]);
    let written = shadowed::graph().compile().unwrap();
    assert_eq!(written.invoke(()).await.unwrap().log, state.log);
    assert_eq!(no_prelude::say.into_tool().name(), "say");
}

#[tokio::test]
async fn d8_a_strict_crate_uses_the_macros() {
    use langgraph::prelude::*;
    use public::{Notes, Repeat, again, rest, say};

    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("say", say)
        .add_node("again", again)
        .add_node("rest", rest)
        .add_node("repeat", Repeat(2))
        .add_sequence(&["say", "again", "rest", "repeat"]);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Notes::default())
        .await
        .unwrap();
    assert_eq!(state.log, ["said", "again", "repeated", "repeated"]);
    let written = public::graph().compile().unwrap();
    let written = written.invoke(()).await.unwrap();
    assert_eq!((written.log, written.add), (state.log, 3));
}
