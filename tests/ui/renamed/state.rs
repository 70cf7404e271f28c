//! The runtime crate under another name, in a module.
#![deny(warnings)]

mod vendor {
    pub(crate) use ::graphs;
}

use vendor::graphs::message::Message;
use vendor::graphs::state::{HasMessages, State};

#[derive(State, Clone, Default)]
#[state(crate = crate::vendor::graphs)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(|a, b| a + b)]
    total: u64,
}

fn main() {
    let chat = Chat::default().merge(ChatUpdate::default().total(1).messages(vec![])).unwrap();
    assert_eq!((chat.total, HasMessages::messages(&chat).len()), (1, 0));
}
