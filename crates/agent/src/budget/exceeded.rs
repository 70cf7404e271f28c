//! The error of a spent budget.

use super::BudgetItem;

/// A call would spend more than its [`Budget`](crate::Budget) allows. Nothing was called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the budget of {item} is spent: the limit is {limit}, {spent} are spent, and the next call may need {needs}"
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
}
