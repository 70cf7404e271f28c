//! Savers that stand before others.

/// Methods of [`Checkpointer`](crate::checkpoint::Checkpointer) that only pass on to the saver in a
/// field.
///
/// A saver that stands before another one (to count, to check, to hide) writes the methods that it
/// is there for, and names the others here. One that writes `load` and leaves `load_state` out
/// answers both from its own; one that names `load` here names `load_state` too, or the other
/// saver's way to read a state fast is lost. `forward!(field: method, …)` calls the saver in `field`;
/// `forward!(field through method: …)` hands the call, which has not begun, to a method of its own,
/// `fn method<'a, T: Send + 'a>(&'a self, call: SaverFuture<'a, T>) -> SaverFuture<'a, T>`.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use langgraph::checkpoint::{
///     Batch, Checkpointer, KeepsValues, MemorySaver, SaverFuture, ThreadKey, forward,
/// };
/// use langgraph::prelude::*;
///
/// struct Counting {
///     saver: MemorySaver,
///     puts: AtomicU64,
/// }
///
/// impl KeepsValues for Counting {}
///
/// impl Checkpointer for Counting {
///     fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
///         self.puts.fetch_add(1, Ordering::Relaxed);
///         self.saver.put(key, batch)
///     }
///
///     forward!(saver: formats, load, load_state, head, list, logs, threads, copy_thread, prune);
///     forward!(saver: delete_log, delete_thread, usage, lease, release);
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
/// let saver = Arc::new(Counting { saver: MemorySaver::new(), puts: AtomicU64::new(0) });
/// let graph = graph.compile()?.checkpointer(Arc::clone(&saver));
///
/// graph.run(1).thread("t").await?;
/// // The input, what follows START, and the superstep.
/// assert_eq!(saver.puts.load(Ordering::Relaxed), 3);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use crate::__forward_saver as forward;

#[doc(hidden)]
#[macro_export]
macro_rules! __forward_saver {
    ($saver:ident: $($method:ident),+ $(,)?) => {
        $($crate::__forward_saver! { @method [$saver] $method })+
    };
    ($saver:ident through $around:ident: $($method:ident),+ $(,)?) => {
        $($crate::__forward_saver! { @method [$saver $around] $method })+
    };

    (@method [$saver:ident $($around:ident)?] formats) => {
        fn formats(&self) -> ::core::option::Option<&$crate::checkpoint::Formats> {
            #[allow(unused_imports)] // where the trait is imported
            use $crate::checkpoint::Checkpointer as _;
            self.$saver.formats()
        }
    };
    (@method $to:tt put) => {
        $crate::__forward_saver! { @call $to put(
            key: &'a $crate::checkpoint::ThreadKey,
            batch: $crate::checkpoint::Batch,
        ) -> () }
    };
    (@method $to:tt load) => {
        $crate::__forward_saver! { @call $to load(
            key: &'a $crate::checkpoint::ThreadKey,
            id: ::core::option::Option<$crate::checkpoint::CheckpointId>,
        ) -> ::core::option::Option<$crate::checkpoint::Chain> }
    };
    (@method $to:tt load_state) => {
        $crate::__forward_saver! { @call $to load_state(
            key: &'a $crate::checkpoint::ThreadKey,
            id: ::core::option::Option<$crate::checkpoint::CheckpointId>,
            see: &'a mut $crate::checkpoint::SeePast<'a>,
        ) -> ::core::option::Option<$crate::checkpoint::Standing> }
    };
    (@method $to:tt head) => {
        $crate::__forward_saver! { @call $to head(
            key: &'a $crate::checkpoint::ThreadKey,
        ) -> ::core::option::Option<$crate::checkpoint::Head> }
    };
    (@method $to:tt list) => {
        $crate::__forward_saver! { @call $to list(
            key: &'a $crate::checkpoint::ThreadKey,
            options: $crate::checkpoint::ListOptions,
        ) -> ::std::vec::Vec<$crate::checkpoint::CheckpointId> }
    };
    (@method $to:tt logs) => {
        $crate::__forward_saver! { @call $to logs(
            thread: &'a str,
        ) -> ::std::vec::Vec<$crate::checkpoint::ThreadKey> }
    };
    (@method $to:tt threads) => {
        $crate::__forward_saver! { @call $to threads(
            filter: $crate::checkpoint::ThreadFilter,
        ) -> ::std::vec::Vec<$crate::checkpoint::ThreadInfo> }
    };
    (@method $to:tt copy_thread) => {
        $crate::__forward_saver! { @call $to copy_thread(from: &'a str, to: &'a str,) -> () }
    };
    (@method $to:tt prune) => {
        $crate::__forward_saver! { @call $to prune(
            key: &'a $crate::checkpoint::ThreadKey,
            prune: $crate::checkpoint::Prune,
        ) -> () }
    };
    (@method $to:tt delete_log) => {
        $crate::__forward_saver! { @call $to delete_log(
            key: &'a $crate::checkpoint::ThreadKey,
        ) -> () }
    };
    (@method $to:tt delete_thread) => {
        $crate::__forward_saver! { @call $to delete_thread(thread: &'a str,) -> () }
    };
    (@method $to:tt usage) => {
        $crate::__forward_saver! { @call $to usage(
            thread: &'a str,
        ) -> $crate::checkpoint::Usage }
    };
    (@method $to:tt lease) => {
        $crate::__forward_saver! { @call $to lease(
            thread: &'a str,
            holder: &'a str,
            term: ::core::time::Duration,
        ) -> ::core::primitive::bool }
    };
    (@method $to:tt release) => {
        $crate::__forward_saver! { @call $to release(thread: &'a str, holder: &'a str,) -> () }
    };
    (@method $to:tt $other:ident) => {
        ::core::compile_error! { ::core::concat!(
            "`", ::core::stringify!($other), "` is no method of `Checkpointer`",
        ) }
    };

    (@call [$saver:ident] $method:ident($($argument:ident: $type:ty,)*) -> $output:ty) => {
        #[allow(clippy::elidable_lifetime_names)] // arguments borrow for as long, if there are any
        fn $method<'a>(
            &'a self,
            $($argument: $type),*
        ) -> $crate::checkpoint::SaverFuture<'a, $output> {
            #[allow(unused_imports)] // where the trait is imported
            use $crate::checkpoint::Checkpointer as _;
            self.$saver.$method($($argument),*)
        }
    };
    (@call [$saver:ident $around:ident] $method:ident($($argument:ident: $type:ty,)*) -> $output:ty) => {
        #[allow(clippy::elidable_lifetime_names)] // arguments borrow for as long, if there are any
        fn $method<'a>(
            &'a self,
            $($argument: $type),*
        ) -> $crate::checkpoint::SaverFuture<'a, $output> {
            #[allow(unused_imports)] // where the trait is imported
            use $crate::checkpoint::Checkpointer as _;
            self.$around(::std::boxed::Box::pin(
                async move { self.$saver.$method($($argument),*).await },
            ))
        }
    };
}
