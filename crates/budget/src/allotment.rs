//! What a requester has allowed the run that answers it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::prices::millis;
use crate::{Allowance, Amounts, BudgetExceeded, BudgetItem};

/// What a run may spend of its requester's budgets. It is a resource of a served run, beside the run's
/// own [`Budget`](crate::Budget); [`Funds`](crate::Funds) reserves from both.
///
/// # Examples
///
/// ```
/// use langgraph_budget::{Allotment, Allowance, Amounts, BudgetItem};
///
/// let allowed = Allowance::new().with(BudgetItem::Tokens, 100);
/// let allotment = Allotment::new(allowed, "assistant");
/// allotment.charge(&Amounts::default().with(BudgetItem::Tokens, 70));
/// assert_eq!(allotment.remaining().of(BudgetItem::Tokens), Some(30));
/// ```
pub struct Allotment {
    allowance: Allowance,
    requester: String,
    since: Instant,
    ledger: Mutex<Balance>,
}

#[derive(Default)]
struct Balance {
    spent: Amounts,
    reserved: Amounts,
}

impl Allotment {
    /// Creates what `requester` allows. Its time begins now.
    pub fn new(allowance: Allowance, requester: impl Into<String>) -> Self {
        Self {
            allowance,
            requester: requester.into(),
            since: Instant::now(),
            ledger: Mutex::default(),
        }
    }

    /// Returns what is spent, without what calls under way have reserved.
    pub fn spent(&self) -> Amounts {
        self.balance().spent
    }

    /// Returns what is left.
    pub fn remaining(&self) -> Allowance {
        let used = self.used(&self.balance());
        BudgetItem::ALL
            .into_iter()
            .fold(Allowance::new(), |rest, item| {
                match self.allowance.of(item) {
                    Some(limit) => rest.with(item, limit.saturating_sub(used.of(item))),
                    None => rest,
                }
            })
    }

    /// Counts what was spent elsewhere, also beyond what is left.
    pub fn charge(&self, spent: &Amounts) {
        self.balance().spent.add(spent);
    }

    /// Returns true if it limits an item.
    pub(crate) fn limits(&self, item: BudgetItem) -> bool {
        self.allowance.of(item).is_some()
    }

    /// Reserves amounts, if they are left.
    pub(crate) fn reserve(self: &Arc<Self>, amounts: Amounts) -> Result<Hold, BudgetExceeded> {
        let mut balance = self.balance();
        let used = self.used(&balance);
        let exceeded = used.exceeds(&amounts, |item| self.allowance.of(item));
        if let Some(mut exceeded) = exceeded {
            exceeded.requester = Some(self.requester.clone());
            return Err(exceeded);
        }
        balance.reserved.add(&amounts);
        drop(balance);
        Ok(Hold {
            allotment: Arc::clone(self),
            amounts,
            used: amounts,
        })
    }

    fn used(&self, balance: &Balance) -> Amounts {
        let mut used = balance.spent;
        used.add(&balance.reserved);
        used.with(BudgetItem::Time, millis(self.since.elapsed()))
    }

    fn balance(&self) -> MutexGuard<'_, Balance> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reserved amounts. A call that is cut off counts as reserved.
pub(crate) struct Hold {
    allotment: Arc<Allotment>,
    amounts: Amounts,
    used: Amounts,
}

impl Hold {
    /// Counts what the call has used.
    pub(crate) fn settle(mut self, used: Amounts) {
        self.used = used;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut balance = self.allotment.balance();
        balance.reserved.subtract(&self.amounts);
        balance.spent.add(&self.used);
    }
}

impl fmt::Debug for Allotment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allotment")
            .field("requester", &self.requester)
            .field("allowance", &self.allowance)
            .field("spent", &self.spent())
            .finish_non_exhaustive()
    }
}
