//! The webhooks of tasks.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use a2a::{A2AError, TaskPushNotificationConfig};
use a2a_server::{HttpPushSender, HttpPushSenderConfig, InMemoryPushConfigStore, PushConfigStore};
use tokio::sync::Mutex;

use crate::task::Entry;

/// How many times a webhook is called for one event, and how long a call may take.
const ATTEMPTS: u32 = 3;
const ATTEMPT: Duration = Duration::from_secs(10);

/// The webhooks of tasks. Each task with one has a follower, so that a slow webhook delays nothing else.
/// Addresses of the own network are refused unless they are allowed.
#[derive(Clone)]
pub(crate) struct Push {
    shared: Arc<PushState>,
}

struct PushState {
    webhooks: InMemoryPushConfigStore,
    sender: HttpPushSender,
    /// True if addresses of the own network are allowed.
    own_network: bool,
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
            shared: Arc::new(PushState {
                webhooks: InMemoryPushConfigStore::new(),
                sender,
                own_network,
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
            let message = format!("unsupported webhook `{}`; expected `http://`", webhook.url);
            return Err(A2AError::invalid_params(message));
        }
        if !self.shared.own_network && is_of_own_network(&webhook.url).await {
            let message = format!("refused webhook `{}`: its address is private", webhook.url);
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
async fn follow(shared: Arc<PushState>, entry: Arc<Entry>) {
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
                        tracing::warn!(target: "langgraph", task, attempt, %error, "failed to call a webhook");
                        tokio::time::sleep(Duration::from_millis(200) * attempt).await;
                    }
                }
            }
        }
    }
    shared.followed.lock().await.remove(&entry.id);
}

/// Returns true if the host of a URL is this machine or in a private network. A name that is not known yet is
/// checked when the webhook is called.
async fn is_of_own_network(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else {
        return true;
    };
    let Some(host) = url.host_str() else {
        return true;
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or(80);
    match tokio::net::lookup_host((host, port)).await {
        Ok(mut found) => found.any(|address| is_private(address.ip())),
        Err(_) => false,
    }
}

fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [first, second, ..] = ip.octets();
            ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_unspecified()
                || ip.is_broadcast()
                || ip.is_multicast()
                || (first == 100 && (64..128).contains(&second))
                || first == 0
        }
        IpAddr::V6(ip) => {
            ip.is_loopback()
                || ip.is_unspecified()
                || ip.is_multicast()
                || ip.is_unique_local()
                || ip.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn addresses_of_the_own_network_are_known() {
        for url in [
            "http://127.0.0.1/",
            "http://localhost:8080/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://10.1.2.3/",
            "http://192.168.0.1/x",
            "http://172.16.0.1/",
            "http://169.254.169.254/latest",
            "http://100.64.0.1/",
            "http://0.0.0.0/",
            "http://2130706433/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
            "nonsense",
        ] {
            assert!(is_of_own_network(url).await, "{url}");
        }
        for url in ["http://93.184.216.34/", "http://[2606:4700::1111]/"] {
            assert!(!is_of_own_network(url).await, "{url}");
        }
    }
}
