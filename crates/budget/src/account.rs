//! What an account has spent.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that a [`Budget`](crate::Budget) limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BudgetItem {
    /// Calls of models.
    ModelCalls,
    /// Calls of tools.
    ToolCalls,
    /// Tokens of input and output.
    Tokens,
    /// Money, in millionths.
    Money,
    /// Time, in milliseconds.
    Time,
}

impl BudgetItem {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::ModelCalls,
        Self::ToolCalls,
        Self::Tokens,
        Self::Money,
        Self::Time,
    ];
}

impl fmt::Display for BudgetItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelCalls => "model calls",
            Self::ToolCalls => "tool calls",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Time => "time",
        })
    }
}

/// Amounts of everything that a [`Budget`](crate::Budget) limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Amounts {
    /// Calls of models.
    pub model_calls: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Tokens of input and output.
    pub tokens: u64,
    /// Money, in millionths.
    pub micros: u64,
    /// Time, in milliseconds.
    pub millis: u64,
}

impl Amounts {
    /// Returns the amount of one item.
    pub fn of(&self, item: BudgetItem) -> u64 {
        match item {
            BudgetItem::ModelCalls => self.model_calls,
            BudgetItem::ToolCalls => self.tool_calls,
            BudgetItem::Tokens => self.tokens,
            BudgetItem::Money => self.micros,
            BudgetItem::Time => self.millis,
        }
    }

    /// Sets the amount of one item.
    #[must_use]
    pub fn with(mut self, item: BudgetItem, amount: u64) -> Self {
        *self.field(item) = amount;
        self
    }

    /// Adds other amounts.
    pub fn add(&mut self, other: &Self) {
        for item in BudgetItem::ALL {
            self.add_to(item, other.of(item));
        }
    }

    /// Returns what these amounts have beyond others.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Self {
        BudgetItem::ALL
            .into_iter()
            .fold(Self::default(), |rest, item| {
                rest.with(item, self.of(item).saturating_sub(other.of(item)))
            })
    }

    pub(crate) fn add_to(&mut self, item: BudgetItem, amount: u64) {
        let field = self.field(item);
        *field = field.saturating_add(amount);
    }

    fn field(&mut self, item: BudgetItem) -> &mut u64 {
        match item {
            BudgetItem::ModelCalls => &mut self.model_calls,
            BudgetItem::ToolCalls => &mut self.tool_calls,
            BudgetItem::Tokens => &mut self.tokens,
            BudgetItem::Money => &mut self.micros,
            BudgetItem::Time => &mut self.millis,
        }
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        self.model_calls = self.model_calls.saturating_sub(other.model_calls);
        self.tool_calls = self.tool_calls.saturating_sub(other.tool_calls);
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.micros = self.micros.saturating_sub(other.micros);
    }
}

/// The account of a run, a thread or a customer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Account {
    /// What it has spent, and what calls under way have reserved.
    pub spent: Amounts,
    /// What it may spend beyond the limits.
    pub more: Amounts,
    /// The requests for more whose answers are counted in `more`.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub answered: BTreeSet<String>,
}
