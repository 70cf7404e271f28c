//! Where webhooks go.

use std::sync::Arc;

use async_trait::async_trait;
use langgraph_server::{Deliver, Webhook};
use serde_json::Value;

use crate::ledger::Ledger;
use crate::world::World;

/// Takes webhooks; now and then it fails, before or behind.
pub(crate) struct Hook {
    pub(crate) world: World,
    pub(crate) ledger: Arc<Ledger>,
}

#[async_trait]
impl Deliver for Hook {
    fn allows(&self, _: &str) -> bool {
        true
    }

    async fn deliver(&self, webhook: &Webhook) -> Result<(), String> {
        tokio::time::sleep(self.world.up_to(30)).await;
        if self.world.happens(10) {
            return Err("the customers are away".to_owned());
        }
        let body: Value =
            serde_json::from_str(webhook.body()).map_err(|error| error.to_string())?;
        let text = |name: &str| body[name].as_str().unwrap_or_default();
        let mut headers = webhook.headers().iter();
        let id = headers.find(|(name, _)| *name == "webhook-id");
        let id = id.map_or("", |(_, id)| id);
        self.ledger
            .takes_webhook(text("run_id"), id, text("status"));
        if self.world.happens(10) {
            return Err("the answer is lost".to_owned());
        }
        Ok(())
    }
}
