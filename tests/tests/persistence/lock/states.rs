//! A state, and what may become of it between two releases.

use langgraph::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A state that remembers its nodes, and an amount.
pub(super) trait Probe: State<Update: Serialize + DeserializeOwned> + Default {
    /// What a node writes.
    fn visit(entries: Vec<String>) -> Self::Update;
    fn visited(&self) -> &[String];
    /// The amount, in the unit of the first state.
    fn amount(&self) -> u64;
}

macro_rules! probe {
    ($state:ident: |$this:ident| $amount:expr) => {
        impl super::Probe for $state {
            fn visit(entries: Vec<String>) -> Self::Update {
                Self::Update::default().visited(entries)
            }
            fn visited(&self) -> &[String] {
                &self.visited
            }
            fn amount(&self) -> u64 {
                let $this = self;
                $amount
            }
        }
    };
}

/// Defines a state `Trace` in a module of its own.
macro_rules! state {
    ($module:ident, { $($head:tt)* }, { $($fields:tt)* }, |$this:ident| $amount:expr) => {
        pub(super) mod $module {
            use langgraph::prelude::*;

            #[derive(State, Clone, Debug, Default)]
            $($head)*
            pub(crate) struct Trace { $($fields)* }

            probe!(Trace: |$this| $amount);
        }
    };
}

state!(
    first,
    {},
    { #[reducer(append)] pub(crate) visited: Vec<String>, pub(crate) amount: u64 },
    |state| state.amount
);
state!(
    field_added,
    {},
    { #[reducer(append)] pub(crate) visited: Vec<String>, pub(crate) amount: u64, pub(crate) note: Option<String> },
    |state| state.amount
);
state!(
    field_renamed,
    {},
    { #[reducer(append)] pub(crate) visited: Vec<String>, #[state(alias = "amount")] pub(crate) euros: u64 },
    |state| state.euros
);
state!(
    field_migrated,
    { #[state(version = 1, migrate = super::to_cents)] },
    { #[reducer(append)] pub(crate) visited: Vec<String>, pub(crate) cents: u64 },
    |state| state.cents / 100
);
state!(
    field_gone,
    {},
    { #[reducer(append)] pub(crate) visited: Vec<String>, pub(crate) euros: u64 },
    |state| state.euros
);
state!(
    field_retyped,
    {},
    { #[reducer(append)] pub(crate) visited: Vec<String>, pub(crate) amount: String },
    |state| state.amount.parse().unwrap_or(0)
);
state!(
    field_untracked,
    {},
    { #[reducer(append)] pub(crate) visited: Vec<String>, #[state(untracked)] pub(crate) amount: u64 },
    |state| state.amount
);
state!(
    reducer_gone,
    {},
    { pub(crate) visited: Vec<String>, pub(crate) amount: u64 },
    |state| state.amount
);

pub(super) mod state_renamed {
    use langgraph::prelude::*;

    #[derive(State, Clone, Debug, Default)]
    pub(crate) struct Journey {
        #[reducer(append)]
        pub(crate) visited: Vec<String>,
        pub(crate) amount: u64,
    }

    probe!(Journey: |state| state.amount);
}

fn to_cents(
    _: u32,
    mut update: serde_json::Value,
) -> Result<serde_json::Value, Box<dyn std::error::Error + Send + Sync>> {
    if let Some(euros) = update["amount"].as_u64() {
        update["cents"] = serde_json::Value::from(euros * 100);
    }
    Ok(update)
}
