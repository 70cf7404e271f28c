//! Other processes on one PostgreSQL learn of changes after them, in transactions of their own.
//!
//! A transaction that notifies locks out all others of the database that do, until it is committed: changes that
//! notified themselves would wait for the disk one after another. So words are sent behind the changes, many at once,
//! and without a wait for the disk. What is lost with its process is found by those who look from time to time.

use std::time::Duration;

use langgraph_postgres::Database;
use tokio::sync::{mpsc, oneshot};

use super::postgres::notify;
use super::signal_words::word;
use crate::queue::Signal;

/// How long words wait for others, once some were sent.
const PAUSE: Duration = Duration::from_millis(5);

/// How long it waits before words are sent again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How many words are sent at once.
const MOST: usize = 1024;

/// Sends words to other processes.
#[derive(Debug)]
pub(super) struct Notifier(mpsc::UnboundedSender<Order>);

#[derive(Debug)]
enum Order {
    Send(String),
    /// Says when what was sent before has arrived.
    Flush(oneshot::Sender<()>),
}

impl Notifier {
    /// Starts a task that sends words under the name of this process, until the notifier is dropped.
    pub(super) fn start(database: Database, process: String) -> Self {
        let (orders, taken) = mpsc::unbounded_channel();
        tokio::spawn(send_all(database, process, taken));
        Self(orders)
    }

    pub(super) fn send(&self, word: String) {
        // The task ends with the runtime.
        let _ = self.0.send(Order::Send(word));
    }

    /// Waits until the words so far are sent, or cannot be.
    pub(super) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        let _ = self.0.send(Order::Flush(done));
        let _ = flushed.await;
    }
}

async fn send_all(database: Database, process: String, mut orders: mpsc::UnboundedReceiver<Order>) {
    let mut taken = Vec::new();
    while orders.recv_many(&mut taken, MOST).await > 0 {
        let (mut words, mut flushed) = (Vec::new(), Vec::new());
        for order in taken.drain(..) {
            match order {
                Order::Send(word) if words.last() != Some(&word) => words.push(word),
                Order::Send(_) => {}
                Order::Flush(done) => flushed.push(done),
            }
        }
        let sent = words.is_empty() || notify(&database, &process, &words).await.is_ok();
        // Who waits for the end of this process does not wait for the database.
        flushed.clear();
        if !sent {
            say_lost(&database, &process, &mut orders).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Says that words are lost, as soon as the database takes that.
async fn say_lost(database: &Database, process: &str, orders: &mut mpsc::UnboundedReceiver<Order>) {
    loop {
        tokio::time::sleep(RETRY_AFTER).await;
        // What they said is part of what is lost.
        while orders.try_recv().is_ok() {}
        match notify(database, process, &[word(&Signal::Lost)]).await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "failed to notify other processes"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

    use langgraph_postgres::Options;

    use super::*;
    use crate::queue::{RunQueue as _, Signals};
    use crate::rows::Rows;

    async fn next(signals: &mut Signals) -> Signal {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(10), signals.next());
            match next.await.expect("no signal comes").unwrap() {
                // It has just begun to listen.
                Signal::Lost => {}
                signal => return signal,
            }
        }
    }

    #[tokio::test]
    async fn l3_a_process_gets_the_signals_of_others_and_its_own_once() {
        let url = std::env::var("DATABASE_URL");
        let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
        let schema = format!("notifier_{}", uuid::Uuid::new_v4().simple());
        let rows = async || {
            let options = Options::default().schema(&schema).max_connections(2);
            let database = Database::connect_with(&url, options).await.unwrap();
            Rows::postgres(database).await.unwrap()
        };
        let (one, other) = (rows().await, rows().await);
        let (mut here, mut there) = (one.signals(), other.signals());
        let cancel = |number: usize| Signal::Cancel {
            run: format!("{schema} {number}"),
        };
        // Until the other one listens.
        let mut number = 0;
        let got = loop {
            one.notify(cancel(number));
            assert_eq!(next(&mut here).await, cancel(number));
            let next = tokio::time::timeout(Duration::from_millis(100), next(&mut there)).await;
            if let Ok(got) = next {
                break got;
            }
            number += 1;
            assert!(number < 100, "it never listens");
        };
        assert!((0..=number).any(|number| got == cancel(number)));

        // All of many at once, in their order, and each once.
        let words: Vec<Signal> = (1_000..1_200).map(cancel).collect();
        for word in &words {
            one.notify(word.clone());
        }
        one.others_notified().await;
        let mut got = Vec::new();
        while got.len() < words.len() {
            let signal = next(&mut there).await;
            if words.contains(&signal) {
                got.push(signal);
            }
        }
        assert_eq!(got, words);
        for word in &words {
            assert_eq!(next(&mut here).await, *word);
        }
        other.notify(cancel(7));
        assert_eq!(next(&mut here).await, cancel(7), "it gets its own again");
    }
}
