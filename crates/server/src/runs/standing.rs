//! How a thread stands when a request for a run is decided by it.

use super::new_run::ThreadOfRun;
use crate::error::ApiResult;
use crate::guard::Access;
use crate::ids::thread_id;
use crate::queue::RunQueue;
use crate::rows::Thread;
use crate::threads::sees;

/// How a thread stands: by it, a request becomes an answer, an input, or a run that goes on at a breakpoint.
///
/// Of two requests for one pause, one is accepted: [`accept_at`](super::accept_at) looks again in the queue itself.
pub(crate) struct Standing {
    id: String,
    /// The row, if there is one that the user sees. It says that the thread is busy, too, if a run of it is due.
    pub(crate) thread: Option<Thread>,
    doc: Option<String>,
}

impl Standing {
    /// Reads how a thread stands.
    pub(crate) async fn of(app: &Access, id: &str) -> ApiResult<Self> {
        let id = thread_id(id)?;
        let (mut thread, doc) = app.rows.thread_and_doc(&id).await?.unzip();
        // The row before the runs: one that begins in between is seen.
        let is_active = !app.rows.active(&id).await?.is_empty();
        if let Some(thread) = thread.as_mut().filter(|_| is_active) {
            "busy".clone_into(&mut thread.status);
        }
        let thread = thread.filter(|thread| sees(app, thread));
        Ok(Self { id, thread, doc })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the document of the row of a thread at which no run is due: another run may come first.
    pub(super) fn expected_doc(&self) -> Option<&str> {
        let thread = self.thread.as_ref();
        let is_at_rest = thread.is_some_and(|thread| thread.status != "busy");
        self.doc.as_deref().filter(|_| is_at_rest)
    }

    /// Returns true if the row is still the same, as far as it is known before the queue compares it.
    pub(super) fn allows(&self, thread: &ThreadOfRun) -> bool {
        match (thread, self.expected_doc()) {
            (ThreadOfRun::New { .. }, _) => self.thread.is_none(),
            (ThreadOfRun::Changed(changed), Some(doc)) => changed.is_of(doc),
            // What a request for a busy thread becomes does not depend on the rest of its row.
            _ => self.thread.is_some(),
        }
    }
}
