//! Webhooks that hear of a task.

use std::sync::Arc;
use std::time::Duration;

use a2a::{A2AError, TaskPushNotificationConfig};
use a2a_server::{HttpPushSender, HttpPushSenderConfig, InMemoryPushConfigStore, PushConfigStore};
use tokio::sync::Mutex;

use crate::task::Entry;

/// How often a webhook is called for one event, and how long it may take.
const ATTEMPTS: u32 = 3;
const ATTEMPT: Duration = Duration::from_secs(10);

/// The webhooks of tasks. Each task with one has a follower, so that a slow webhook holds nobody
/// up. Addresses of the own network are refused unless they are allowed.
#[derive(Clone)]
pub(crate) struct Push {
    shared: Arc<Shared>,
}

struct Shared {
    webhooks: InMemoryPushConfigStore,
    sender: HttpPushSender,
    /// The tasks that have a follower.
    followed: Mutex<std::collections::HashSet<String>>,
}

impl Push {
    pub(crate) fn new(own_network: bool) -> Self {
        let sender = HttpPushSender::new(Some(HttpPushSenderConfig {
            timeout: ATTEMPT,
            fail_on_error: true,
            validate_urls: !own_network,
        }));
        Self {
            shared: Arc::new(Shared {
                webhooks: InMemoryPushConfigStore::new(),
                sender,
                followed: Mutex::default(),
            }),
        }
    }

    pub(crate) async fn add(
        &self,
        entry: &Arc<Entry>,
        mut webhook: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        let secure = webhook.url.starts_with("https://") && cfg!(feature = "rustls");
        if !secure && !webhook.url.starts_with("http://") {
            let message = format!("the webhook `{}` cannot be reached", webhook.url);
            return Err(A2AError::invalid_params(message));
        }
        webhook.task_id.clone_from(&entry.id);
        let saved = self.shared.webhooks.save(webhook).await?;
        let mut followed = self.shared.followed.lock().await;
        if !entry.state().is_terminal() && followed.insert(entry.id.clone()) {
            tokio::spawn(follow(Arc::clone(&self.shared), Arc::clone(entry)));
        }
        Ok(saved)
    }

    pub(crate) async fn get(
        &self,
        task: &str,
        id: &str,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        self.shared.webhooks.get(task, id).await
    }

    pub(crate) async fn list(
        &self,
        task: &str,
    ) -> Result<Vec<TaskPushNotificationConfig>, A2AError> {
        let mut all = self.shared.webhooks.list(task).await?;
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    pub(crate) async fn delete(&self, task: &str, id: &str) -> Result<(), A2AError> {
        self.shared.webhooks.delete(task, id).await
    }

    pub(crate) async fn forget(&self, tasks: &[String]) {
        for task in tasks {
            let _ = self.shared.webhooks.delete_all(task).await;
        }
    }
}

/// Sends the events of a task to its webhooks, until it has ended.
async fn follow(shared: Arc<Shared>, entry: Arc<Entry>) {
    let mut position = 0;
    while let Some(event) = entry.event(position).await {
        position += 1;
        let webhooks = shared.webhooks.list(&entry.id).await.unwrap_or_default();
        for webhook in webhooks {
            for attempt in 1..=ATTEMPTS {
                match shared.sender.send_push(&webhook, event.clone()).await {
                    Ok(()) => break,
                    Err(error) => {
                        let task = entry.id.as_str();
                        tracing::warn!(target: "langgraph", task, attempt, %error, "webhook");
                        tokio::time::sleep(Duration::from_millis(200) * attempt).await;
                    }
                }
            }
        }
    }
    shared.followed.lock().await.remove(&entry.id);
}
