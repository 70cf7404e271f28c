//! The tasks of an entrypoint spend from the budget of its run.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_budget::{Amounts, Budget, BudgetItem, Funds};
use langgraph_functional::{EntrypointExt, entrypoint, task};

/// Calls a model, as far as the budget knows.
#[task]
async fn call_model(prompt: String, cx: &Context) -> Result<String, NodeError> {
    let funds = Funds::of(cx).ok_or_else(|| NodeError::msg("there is no budget"))?;
    let call = Amounts::default().with(BudgetItem::ModelCalls, 1);
    funds.reserve(call, cx).await?.settle(call).await?;
    Ok(format!("re: {prompt}"))
}

#[entrypoint]
async fn talk(cx: &Context) -> Result<Vec<String>, NodeError> {
    let (hi, bye) = tokio::try_join!(
        call_model("hi".to_owned()).on(cx),
        call_model("bye".to_owned()).on(cx)
    )?;
    let more: String = cx.interrupt("more?", &hi)?;
    let more = call_model(more).on(cx).await?;
    Ok(vec![hi, bye, more])
}

#[tokio::test]
async fn tasks_spend_once_from_the_budget_of_their_thread() {
    for (calls, is_enough) in [(3, true), (2, false)] {
        let budget = Budget::per_thread().model_calls(calls);
        let graph = talk
            .compile()
            .unwrap()
            .resource(Arc::new(budget))
            .checkpointer(Arc::new(MemorySaver::new()));
        let thread = graph.thread("t");
        thread.run(talk()).await.unwrap();
        // The two tasks before the interrupt have spent already, and do not run again.
        let resumed = thread.resume("more?", "what").await;
        assert_eq!(resumed.is_ok(), is_enough, "{resumed:?}");
        match resumed {
            Ok(outcome) => {
                let output = outcome.finished().unwrap().output.unwrap();
                assert_eq!(output, ["re: hi", "re: bye", "re: what"]);
            }
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("call_model"), "{error}");
            }
        }
    }
}
