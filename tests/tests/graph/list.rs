//! A list of items, and what nodes did with them.

use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default, PartialEq)]
pub(crate) struct List {
    pub(crate) items: Vec<String>,
    #[reducer(append)]
    pub(crate) log: Vec<String>,
}
