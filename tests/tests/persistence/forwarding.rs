//! A saver in front of another one passes on every call.

use std::sync::{Mutex, PoisonError};

use langgraph::async_trait;
use langgraph::checkpoint::{
    Administration, Batch, Chain, CheckpointId, Checkpointer, Formats, Head, Leases, ListOptions,
    MemorySaver, ThreadKey, ThreadPosition, VisitStatePart, forward_checkpointer,
};
use langgraph::error::CheckpointError;

/// Records which of its methods are called. No answer of it is the default of its method.
#[derive(Default)]
struct Behind {
    memory: MemorySaver,
    calls: Mutex<Vec<&'static str>>,
}

impl Behind {
    fn called(&self, method: &'static str) {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(method);
    }
}

#[async_trait]
impl Checkpointer for Behind {
    fn formats(&self) -> Option<&Formats> {
        self.called("formats");
        self.memory.formats()
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.called("put");
        self.memory.put(key, batch).await
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.called("load");
        self.memory.load(key, id).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.called("head");
        self.memory.head(key).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.called("list");
        self.memory.list(key, options).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.called("load_state");
        self.memory.load_state(key, id, visit).await
    }

    fn is_dry_run(&self) -> bool {
        self.called("is_dry_run");
        true
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.called("leases");
        self.memory.leases()
    }

    fn administration(&self) -> Option<&dyn Administration> {
        self.called("administration");
        self.memory.administration()
    }
}

struct InFront {
    saver: Behind,
}

#[async_trait]
impl Checkpointer for InFront {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.saver.put(key, batch).await
    }

    forward_checkpointer!(saver);
}

#[tokio::test]
async fn a_saver_in_front_of_another_passes_on_every_call() {
    let front = InFront {
        saver: Behind::default(),
    };
    let key = ThreadKey::root("t");
    assert!(front.formats().is_none());
    front.put(&key, Batch::default()).await.unwrap();
    assert!(front.load(&key, None).await.unwrap().is_none());
    assert!(front.head(&key).await.unwrap().is_none());
    let list = front.list(&key, ListOptions::default()).await;
    assert!(list.unwrap().is_empty());
    let state = front.load_state(&key, None, &mut |_| {}).await;
    assert!(state.unwrap().is_none());
    assert!(front.is_dry_run());
    assert!(front.leases().is_some());
    assert!(front.administration().is_some());
    let calls = front.saver.calls.lock().unwrap();
    let expected = [
        "formats",
        "put",
        "load",
        "head",
        "list",
        "load_state",
        "is_dry_run",
        "leases",
        "administration",
    ];
    assert_eq!(*calls, expected);
}
