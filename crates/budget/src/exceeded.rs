//! The error of a spent budget.

use crate::BudgetItem;

/// A call would spend more than its [`Budget`](crate::Budget) allows. Nothing was called.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the budget of {item}{} is spent: the limit is {limit}, {spent} are spent, and the next call may need {needs}",
    of(.requester.as_deref())
)]
#[non_exhaustive]
pub struct BudgetExceeded {
    /// What is spent.
    pub item: BudgetItem,
    /// The limit.
    pub limit: u64,
    /// What is spent or reserved.
    pub spent: u64,
    /// What the next call may need.
    pub needs: u64,
    /// Whose budget it is, if it is not the run's own: the requester of a served run. The limit is what
    /// the requester had left.
    pub requester: Option<String>,
}

fn of(requester: Option<&str>) -> String {
    requester.map_or_else(String::new, |requester| {
        format!(" of the requester `{requester}`")
    })
}

langgraph::debug_is_message!(BudgetExceeded);
