//! Accounts of budgets in a database.

use std::sync::Arc;

use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
use langgraph_budget::{Budget, StoreLedger};
use langgraph_postgres::PostgresStore;
use support::Schema;

mod support;

#[tokio::test]
async fn k4_an_account_survives_a_restart() {
    let schema = Schema::new();
    for expected in 1..=2 {
        // A pool of its own, as that of a process that begins anew.
        let store = PostgresStore::new(schema.connect().await);
        let ledger = StoreLedger::new(Arc::new(store)).namespace(["accounts", "ada"]);
        let budget = Budget::by(|_| "ada".to_owned())
            .model_calls(2)
            .ledger(ledger);
        let budget = Arc::new(budget);
        let agent = react_agent(ScriptedModel::new(["Hi!"]), ())
            .compile()
            .unwrap();
        let agent = agent.resource(Arc::clone(&budget));
        agent.invoke(MessagesStateUpdate::user("Hi")).await.unwrap();
        let account = budget.account("ada").await.unwrap();
        assert_eq!(account.spent.model_calls, expected);
    }
}
