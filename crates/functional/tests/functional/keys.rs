//! What is known of an entrypoint before it runs: its tasks, and the keys of both.

use langgraph::graph::{KeyKind, NodeInfo};
use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, entrypoint, task};

mod texts {
    use super::*;

    #[task]
    pub(crate) async fn shorten(text: String, by: usize) -> String {
        text.chars().skip(by).collect()
    }
}

/// Something else that is called on a context.
struct Button(Vec<String>);

fn button() -> Button {
    Button(Vec::new())
}

impl Button {
    fn on(mut self, cx: &Context) {
        self.0.push(cx.node().to_string());
    }
}

#[task]
async fn halve(number: u32) -> u32 {
    number / 2
}

#[task(name = "sign")]
async fn signature(cx: &Context) -> Result<String, NodeError> {
    cx.once("stamp", async { Ok::<_, NodeError>(1_u8) }).await?;
    let by: String = cx.interrupt("signer", "Who signs?")?;
    Ok(by)
}

#[entrypoint]
async fn letter(text: String, cx: &Context) -> Result<String, NodeError> {
    use texts::shorten;
    button().on(cx);
    let short = shorten(text, 1).key("first").on(cx).await?;
    let half = halve(halve(8).on(cx).await?).on(cx).await?;
    let by = signature().on(cx).await?;
    if !cx.interrupt::<bool>("send", &short)? {
        return Ok(String::new());
    }
    Ok(format!("{short}, {half}, {by}"))
}

fn keys(node: &NodeInfo) -> Vec<(KeyKind, &str, &str)> {
    let keys = node.keys.iter();
    keys.map(|key| (key.kind, &*key.key, &*key.ty)).collect()
}

#[test]
fn an_entrypoint_knows_the_tasks_that_it_calls_and_what_they_ask_for() {
    let graph = letter.compile().unwrap();
    assert_eq!(
        keys(&graph.topology().nodes[0]),
        [
            (KeyKind::Interrupt, "send", "bool"),
            (KeyKind::Task, "shorten", "String"),
            (KeyKind::Task, "halve", "u32"),
            (KeyKind::Task, "sign", "String"),
            (KeyKind::Once, "stamp", ""),
            (KeyKind::Interrupt, "signer", "String"),
        ]
    );
}
