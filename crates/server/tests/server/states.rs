//! The states of graphs whose tests are about something else.

use langgraph::State;

/// Notes that nodes add.
#[derive(State, Clone, Debug, Default)]
pub(crate) struct Notes {
    #[reducer(append)]
    pub(crate) notes: Vec<String>,
}

/// A text that nodes replace.
#[derive(State, Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
}

/// A number that nodes replace.
#[derive(State, Clone, Debug, Default)]
pub(crate) struct Number {
    pub(crate) number: u64,
}
