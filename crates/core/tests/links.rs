//! Links in memory: each is the checkpoint that the whole one would be.

// A failed test may stop.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use langgraph_core::checkpoint::{
    Administration, Base, Batch, CheckpointId, CheckpointRecord, Checkpointer, Encoded,
    EntryRecord, Few, Fold, FollowedRecord, Formats, GrowingLinks, Head, Link, Links, ListOptions,
    MemorySaver, PayloadValue, Prune, RunStatus, Source, StoredValue, TaskOutcome, TaskRecord,
    TaskSpec, ThreadFilter, ThreadKey,
};
use langgraph_core::error::{CheckpointError, FormatError};

/// More than the saver allocates together.
const LINKS: usize = 80;

/// A value that shows what it is.
struct Named(&'static str);

impl StoredValue for Named {
    fn encode(&self, _: usize, formats: &Formats) -> Result<Encoded, FormatError> {
        formats.encode(&self.0, 0)
    }

    fn state(&self) -> &'static str {
        self.0
    }
}

fn value(name: &str) -> PayloadValue {
    PayloadValue::of(Named(name.to_owned().leak()))
}

fn first(id: CheckpointId) -> CheckpointRecord {
    let metadata = BTreeMap::from([("user".to_owned(), "ada".into())]);
    CheckpointRecord {
        id,
        tasks: Few::one(TaskSpec::new("node".into(), None)),
        snapshot: Some(value("state").into()),
        since_snapshot: 7,
        graph: 5,
        ..CheckpointRecord::of_metadata(None, metadata)
    }
}

/// Links as a run has them, each with the result of the task before it.
#[derive(Default)]
struct Shared(Mutex<Arc<List>>);

#[derive(Clone, Default)]
struct List(Vec<(Link, PayloadValue)>);

impl Shared {
    fn add(&self, link: Link, done: PayloadValue) {
        Arc::make_mut(&mut self.0.lock().unwrap())
            .0
            .push((link, done));
    }
}

impl GrowingLinks for Shared {
    fn newest(&self) -> Option<(usize, CheckpointId, SystemTime)> {
        let list = self.0.lock().unwrap();
        let (link, _) = list.0.last()?;
        Some((list.0.len(), link.id, link.created_at))
    }

    fn close(&self) -> Arc<dyn Links> {
        Arc::clone(&self.0.lock().unwrap()) as _
    }
}

impl Links for List {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn id(&self, index: usize) -> Option<CheckpointId> {
        Some(self.0.get(index)?.0.id)
    }

    fn add_ids(&self, ids: &mut Vec<CheckpointId>) {
        ids.extend(self.0.iter().map(|(link, _)| link.id));
    }

    fn link(&self, index: usize) -> Option<Link> {
        Some(self.0.get(index)?.0.clone())
    }

    fn done(self: Arc<Self>, index: usize) -> Option<PayloadValue> {
        self.own_done(index)
    }

    fn own_done(&self, index: usize) -> Option<PayloadValue> {
        Some(self.0.get(index)?.1.clone())
    }
}

/// Every third link follows an edge that has a bound; the first two before any.
fn followed(index: usize) -> Vec<FollowedRecord> {
    let times = u32::try_from(index / 3).unwrap();
    let record = FollowedRecord {
        from: "node".into(),
        to: "back".into(),
        times,
    };
    (times > 0).then_some(record).into_iter().collect()
}

/// The link behind `last` as a whole checkpoint.
fn whole(link: &Link, last: &CheckpointRecord) -> CheckpointRecord {
    CheckpointRecord {
        id: link.id,
        parent: Some(last.id),
        base: Some(Base {
            id: last.id,
            with_tasks: true,
        }),
        step: last.step + 1,
        source: Source::Loop,
        created_at: link.created_at,
        tasks: Few::one(TaskSpec::new(Arc::clone(&link.next), None)),
        followed: link.followed.to_vec(),
        snapshot: None,
        since_snapshot: last.since_snapshot + 1,
        ..last.clone()
    }
}

/// Two logs with the same checkpoints: one of links, and one of whole checkpoints.
struct Both {
    saver: MemorySaver,
    links: ThreadKey,
    wholes: ThreadKey,
    head: Head,
    ids: Vec<CheckpointId>,
}

impl Both {
    async fn new() -> Self {
        Self::looked_at_every(LINKS).await
    }

    /// The log of links is read after so many, and the run shares others for what follows.
    async fn looked_at_every(often: usize) -> Self {
        let saver = MemorySaver::new();
        let (links, wholes) = (ThreadKey::root("links"), ThreadKey::root("wholes"));
        let mut ids = vec![CheckpointId::after(None)];
        let mut last = first(ids[0]);
        let mut batch = Batch {
            checkpoints: vec![last.clone()],
            status: RunStatus::Running,
            ..Batch::default()
        };
        saver.put(&links, batch.clone()).await.unwrap();
        saver.put(&wholes, batch.clone()).await.unwrap();
        let mut head = batch.next_head().unwrap();
        let mut shared = Arc::new(Shared::default());
        for index in 0..LINKS {
            let link = Link {
                id: CheckpointId::after(Some(last.id)),
                created_at: SystemTime::now(),
                next: format!("node {index}").into(),
                followed: followed(index).into(),
            };
            let next = whole(&link, &last);
            let done = value(&format!("update {index}"));
            if index % often == 0 {
                saver.load(&links, None).await.unwrap();
                shared = Arc::default();
                shared.add(link, done.clone());
                let takes = saver.share_links(&links, head, Arc::clone(&shared) as _);
                assert!(takes.unwrap());
            } else {
                shared.add(link, done.clone());
            }
            batch = Batch {
                head: Some(head),
                checkpoints: vec![next.clone()],
                tasks: vec![TaskRecord::ended(
                    last.id,
                    0,
                    TaskOutcome::Finished(done.into()),
                )],
                status: RunStatus::Running,
                ..Batch::default()
            };
            head = batch.next_head().unwrap();
            saver.put(&wholes, batch).await.unwrap();
            // Neither closes the links.
            assert_eq!(saver.head(&links).await.unwrap(), Some(head));
            let threads = saver.threads(ThreadFilter::new()).await.unwrap();
            assert!(threads.iter().all(|thread| thread.head == head));
            ids.push(next.id);
            last = next;
        }
        Self {
            saver,
            links,
            wholes,
            head,
            ids,
        }
    }

    /// Asserts that both logs read the same, from each checkpoint.
    async fn assert_same(&self) {
        let (saver, links, wholes) = (&self.saver, &self.links, &self.wholes);
        for id in self.ids.iter().map(|id| Some(*id)).chain([None]) {
            let read = saver.load(links, id).await.unwrap();
            assert_eq!(
                format!("{read:?}"),
                format!("{:?}", saver.load(wholes, id).await.unwrap()),
            );
            let (mut parts, mut expected) = (Vec::new(), Vec::new());
            let mut visit = |part| parts.push(format!("{part:?}"));
            let position = saver.load_state(links, id, &mut visit).await.unwrap();
            let mut visit = |part| expected.push(format!("{part:?}"));
            let of_whole = saver.load_state(wholes, id, &mut visit).await.unwrap();
            assert_eq!(parts, expected);
            assert_eq!(format!("{position:?}"), format!("{of_whole:?}"));
        }
        for options in [ListOptions::new(), ListOptions::new().limit(3)] {
            assert_eq!(
                saver.list(links, options.clone()).await.unwrap(),
                saver.list(wholes, options).await.unwrap(),
            );
        }
        assert_eq!(saver.head(links).await.unwrap(), Some(self.head));
        assert_eq!(saver.head(wholes).await.unwrap(), Some(self.head));
    }

    async fn put(&mut self, batch: Batch) {
        let batch = Batch {
            head: Some(self.head),
            ..batch
        };
        self.saver.put(&self.links, batch.clone()).await.unwrap();
        self.head = batch.next_head().unwrap();
        self.saver.put(&self.wholes, batch).await.unwrap();
    }
}

#[tokio::test]
async fn a_link_reads_as_the_whole_checkpoint() {
    Both::new().await.assert_same().await;
}

#[tokio::test]
async fn a_log_is_read_while_links_are_added() {
    for often in [1, 2, 7] {
        let both = Both::looked_at_every(often).await;
        both.assert_same().await;
    }
}

#[tokio::test]
async fn records_are_added_to_links() {
    let mut both = Both::new().await;
    let (middle, last) = (both.ids[LINKS / 2], both.ids[LINKS]);
    both.put(Batch {
        tasks: vec![
            TaskRecord::ended(middle, 0, TaskOutcome::Failed("again".to_owned())),
            TaskRecord::ended(last, 0, TaskOutcome::Failed("late".to_owned())),
        ],
        entries: vec![EntryRecord {
            checkpoint: last,
            writes: value("from outside").into(),
            tasks: Vec::new(),
            order: Vec::new(),
        }],
        ..Batch::default()
    })
    .await;
    both.assert_same().await;
}

#[tokio::test]
async fn a_log_of_links_is_pruned_and_copied() {
    let mut both = Both::new().await;
    let (deleted, rest) = both.ids.split_at(LINKS / 2);
    let prune = Prune {
        fold: vec![Fold {
            id: rest[0],
            snapshot: value("folded").into(),
            ran: vec!["node".into()],
            joined: Vec::new(),
        }],
        delete: deleted.to_vec(),
    };
    both.saver.copy_thread("links", "copy").await.unwrap();
    both.saver.prune(&both.links, prune.clone()).await.unwrap();
    both.saver.prune(&both.wholes, prune).await.unwrap();
    both.ids = rest.to_vec();
    both.assert_same().await;

    let copy = ThreadKey::root("copy");
    let read = both.saver.load(&copy, None).await.unwrap().unwrap();
    assert_eq!(read.records.len(), LINKS + 1);
}

#[tokio::test]
async fn links_behind_another_head_are_refused() {
    let both = Both::new().await;
    let shared = Arc::new(Shared::default());
    let link = Link {
        id: CheckpointId::after(Some(both.head.id)),
        created_at: SystemTime::now(),
        next: "node".into(),
        followed: Box::default(),
    };
    shared.add(link, value("update"));
    let old = Head::new(both.head.id, both.head.version - 1);
    let refused = both.saver.share_links(&both.links, old, shared);
    assert!(
        matches!(&refused, Err(CheckpointError::Conflict { .. })),
        "{refused:?}"
    );
    both.assert_same().await;
}
