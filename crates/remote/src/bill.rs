//! What a remote agent may spend, and who pays for it.

use langgraph::error::NodeError;
use langgraph::node::Context;
use langgraph_budget::{Allowance, Amounts, Funds};

use crate::AgentEnvelope;

/// What the agent of one request has cost so far. Its parts say what is spent since the request began,
/// so a part that arrives twice is paid once.
pub(crate) struct Bill {
    funds: Option<Funds>,
    paid: Amounts,
}

impl Bill {
    pub(crate) fn of(cx: &Context) -> Self {
        Self {
            funds: Funds::of(cx),
            paid: Amounts::default(),
        }
    }

    /// Returns what the agent may spend, if a budget counts.
    pub(crate) async fn allowance(&self, cx: &Context) -> Result<Option<Allowance>, NodeError> {
        match &self.funds {
            Some(funds) => funds.remaining(cx).await.map(Some),
            None => Ok(None),
        }
    }

    /// Pays what is new in a part of the reply.
    pub(crate) async fn pay(
        &mut self,
        part: &AgentEnvelope,
        cx: &Context,
    ) -> Result<(), NodeError> {
        let (Some(funds), Some(spent)) = (&self.funds, &part.spent) else {
            return Ok(());
        };
        let new = spent.beyond(&self.paid);
        if new == Amounts::default() {
            return Ok(());
        }
        self.paid.add(&new);
        funds.charge(&new, cx).await
    }
}
