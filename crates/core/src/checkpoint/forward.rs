//! What a saver in front of another one passes on.

/// Implements the methods of [`Checkpointer`](crate::checkpoint::Checkpointer) by those of another saver,
/// which a field holds: for a saver that does something of its own when it writes.
///
/// Inside the `impl`, `forward_checkpointer!(saver)` stands for all methods except
/// [`put`](crate::checkpoint::Checkpointer::put), and
/// [`put_now`](crate::checkpoint::Checkpointer::put_now) and
/// [`share_links`](crate::checkpoint::Checkpointer::share_links), whose defaults leave each write to `put`. A saver
/// with more methods of its own names the groups that it passes on, as in `forward_checkpointer!(saver: reads)`:
///
/// | group | methods |
/// |---|---|
/// | `formats` | `formats` |
/// | `reads` | `load`, `load_state`, `head`, `list` |
/// | `abilities` | `check_holder`, `is_dry_run`, `leases`, `administration` |
///
/// # Examples
///
/// A saver that counts what another one stores:
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use langgraph::async_trait;
/// use langgraph::checkpoint::{Batch, Checkpointer, MemorySaver, ThreadKey, forward_checkpointer};
/// use langgraph::error::CheckpointError;
///
/// struct Counting {
///     saver: MemorySaver,
///     puts: AtomicU64,
/// }
///
/// #[async_trait]
/// impl Checkpointer for Counting {
///     async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
///         self.puts.fetch_add(1, Ordering::Relaxed);
///         self.saver.put(key, batch).await
///     }
///
///     forward_checkpointer!(saver);
/// }
/// ```
#[macro_export]
macro_rules! forward_checkpointer {
    ($saver:tt) => {
        $crate::forward_checkpointer!($saver: formats, reads, abilities);
    };
    ($saver:tt: $($group:ident),+ $(,)?) => {
        $($crate::forward_checkpointer!(@$group $saver);)+
    };
    (@formats $saver:tt) => {
        fn formats(&self) -> ::core::option::Option<&$crate::checkpoint::Formats> {
            self.$saver.formats()
        }
    };
    // As `async_trait` writes them: it does not see into a macro.
    (@reads $saver:tt) => {
        fn load<'saver, 'key, 'run>(
            &'saver self,
            key: &'key $crate::checkpoint::ThreadKey,
            id: ::core::option::Option<$crate::checkpoint::CheckpointId>,
        ) -> $crate::checkpoint::SaverFuture<
            'run,
            ::core::option::Option<$crate::checkpoint::Chain>,
        >
        where
            'saver: 'run,
            'key: 'run,
            Self: 'run,
        {
            self.$saver.load(key, id)
        }

        fn load_state<'saver, 'key, 'visit, 'part, 'run>(
            &'saver self,
            key: &'key $crate::checkpoint::ThreadKey,
            id: ::core::option::Option<$crate::checkpoint::CheckpointId>,
            visit: &'visit mut $crate::checkpoint::VisitStatePart<'part>,
        ) -> $crate::checkpoint::SaverFuture<
            'run,
            ::core::option::Option<$crate::checkpoint::ThreadPosition>,
        >
        where
            'saver: 'run,
            'key: 'run,
            'visit: 'run,
            'part: 'run,
            Self: 'run,
        {
            self.$saver.load_state(key, id, visit)
        }

        fn head<'saver, 'key, 'run>(
            &'saver self,
            key: &'key $crate::checkpoint::ThreadKey,
        ) -> $crate::checkpoint::SaverFuture<
            'run,
            ::core::option::Option<$crate::checkpoint::Head>,
        >
        where
            'saver: 'run,
            'key: 'run,
            Self: 'run,
        {
            self.$saver.head(key)
        }

        fn list<'saver, 'key, 'run>(
            &'saver self,
            key: &'key $crate::checkpoint::ThreadKey,
            options: $crate::checkpoint::ListOptions,
        ) -> $crate::checkpoint::SaverFuture<
            'run,
            ::std::vec::Vec<$crate::checkpoint::CheckpointId>,
        >
        where
            'saver: 'run,
            'key: 'run,
            Self: 'run,
        {
            self.$saver.list(key, options)
        }
    };
    (@abilities $saver:tt) => {
        fn check_holder<'saver, 'thread, 'run>(
            &'saver self,
            thread: &'thread str,
        ) -> $crate::checkpoint::SaverFuture<'run, ()>
        where
            'saver: 'run,
            'thread: 'run,
            Self: 'run,
        {
            self.$saver.check_holder(thread)
        }

        fn is_dry_run(&self) -> bool {
            self.$saver.is_dry_run()
        }

        fn leases(&self) -> ::core::option::Option<&dyn $crate::checkpoint::Leases> {
            self.$saver.leases()
        }

        fn administration(
            &self,
        ) -> ::core::option::Option<&dyn $crate::checkpoint::Administration> {
            self.$saver.administration()
        }
    };
}
