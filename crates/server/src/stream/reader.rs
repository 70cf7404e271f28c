//! A client of a run.

use std::collections::VecDeque;
use std::sync::Arc;

use langgraph_http::{Backlog, BacklogReader, BrokenOff, Read};

use super::{Feed, StreamEvent};
use crate::queue::EventLog;
use crate::rows::Rows;

/// How many events are read from the database at once.
const PAGE: usize = 64;

/// Reads the events of a run, from some number on. What is not in memory any more comes from the
/// database, page by page: a slow reader holds one page.
pub(crate) struct FeedReader {
    rows: Arc<Rows>,
    pub(crate) feed: Arc<Feed>,
    events: BacklogReader<Arc<StreamEvent>>,
    page: VecDeque<Arc<StreamEvent>>,
    next: u64,
}

impl FeedReader {
    /// Reads from the event of that number on.
    pub(crate) fn new(rows: &Arc<Rows>, feed: Arc<Feed>, first: i64) -> Self {
        let next = u64::try_from(first).unwrap_or_default();
        let next = if feed.is_stored {
            next
        } else {
            // What is not in memory is gone.
            next.max(feed.events.first())
        };
        Self {
            rows: Arc::clone(rows),
            events: Backlog::reader(&feed.events, next),
            feed,
            page: VecDeque::new(),
            next,
        }
    }

    /// Returns the next event; `None` after the last one.
    ///
    /// # Errors
    ///
    /// If the run goes on in another process, or its events cannot be read.
    pub(crate) async fn next(&mut self) -> Result<Option<Arc<StreamEvent>>, BrokenOff> {
        loop {
            if let Some(event) = self.page.pop_front() {
                self.next += 1;
                if self.page.is_empty() {
                    self.events.seek(self.next);
                }
                return Ok(Some(event));
            }
            match self.events.next().await {
                Read::Item(event) => {
                    self.next += 1;
                    return Ok(Some(event));
                }
                Read::Missed { first } => Box::pin(self.read_page(first)).await?,
                Read::Ended if self.feed.goes_on() => return Err(BrokenOff),
                Read::Ended => return Ok(None),
            }
        }
    }

    /// Reads the events before `first` from the database.
    async fn read_page(&mut self, first: u64) -> Result<(), BrokenOff> {
        if !self.feed.is_stored {
            return Err(BrokenOff);
        }
        let after = i64::try_from(self.next).unwrap_or(i64::MAX) - 1;
        let rows = self.rows.read(&self.feed.run, after, PAGE).await;
        let events = rows.map_err(|error| {
            tracing::error!(%error, "failed to read the events of a run");
            BrokenOff
        })?;
        for row in events {
            let event = StreamEvent::read(&row).map_err(|error| {
                tracing::error!(%error, "failed to read an event of a run");
                BrokenOff
            })?;
            self.page.push_back(Arc::new(event));
        }
        if let Some(event) = self.page.front() {
            self.next = u64::try_from(event.number).unwrap_or_default();
        } else {
            // They are not kept any more.
            self.next = first;
            self.events.seek(first);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::queue::{After, Job, LoggedEvent, RunQueue};
    use crate::stream::{Feeds, StreamEventKind};

    fn event(number: i64) -> StreamEvent {
        StreamEvent {
            number,
            ..StreamEvent::new(StreamEventKind::Custom(json!(number)))
        }
    }

    #[tokio::test]
    async fn what_is_not_in_memory_comes_from_the_database() {
        const EVENTS: i64 = 3_000;
        let rows = Arc::new(Rows::in_memory().await.unwrap());
        rows.push(Job::new("r", "t", "{}")).await.unwrap();
        let lease = Duration::from_secs(60);
        let claim = rows.claim("w", lease, After::START).await.unwrap();
        let events = (0..EVENTS).map(|number| event(number).logged(number).unwrap());
        let events: Vec<LoggedEvent> = events.collect();
        assert!(rows.append(&claim.unwrap(), &events).await.unwrap());

        let feed = Feeds::default().of("r", true, None);
        let mut slow = FeedReader::new(&rows, Arc::clone(&feed), 0);
        for number in 0..EVENTS {
            feed.add(event(number));
        }
        feed.end(Some(json!({})));
        assert!(feed.events.first() > 1_000, "all of them are in memory");
        for number in 0..EVENTS {
            let next = slow.next().await.unwrap().unwrap();
            assert_eq!(next.number, number);
            assert_eq!(next.kind, StreamEventKind::Custom(json!(number)));
        }
        assert_eq!(slow.next().await, Ok(None));
        // One that comes later, and for a run that this process has not carried out.
        let feed = Feeds::default().of("r", true, Some(&event(EVENTS - 1)));
        feed.end(Some(json!({})));
        let mut late = FeedReader::new(&rows, feed, EVENTS - 2);
        assert_eq!(late.next().await.unwrap().unwrap().number, EVENTS - 2);
        assert_eq!(late.next().await.unwrap().unwrap().number, EVENTS - 1);
        assert_eq!(late.next().await, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_whose_events_are_not_stored_waits_for_its_readers_but_not_for_ever() {
        let rows = Arc::new(Rows::in_memory().await.unwrap());
        let feed = Feeds::default().of("r", false, None);
        let mut reader = FeedReader::new(&rows, Arc::clone(&feed), 0);
        let mut silent = FeedReader::new(&rows, Arc::clone(&feed), 0);
        let pushing = tokio::spawn({
            let feed = Arc::clone(&feed);
            async move {
                for number in 0..5_000 {
                    feed.push(event(number)).await;
                }
                feed.end(Some(json!({})));
            }
        });
        for number in 0..5_000 {
            assert_eq!(reader.next().await.unwrap().unwrap().number, number);
        }
        pushing.await.unwrap();
        assert_eq!(reader.next().await, Ok(None));
        assert_eq!(silent.next().await, Err(BrokenOff));
    }
}
