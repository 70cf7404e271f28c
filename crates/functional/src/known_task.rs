//! Functions that an entrypoint calls on a context, of which those are known that `#[task]` has made.

use langgraph::graph::{KeyInfo, KeyKind};

use crate::call::TaskCall;
use crate::keys::Keys;
use crate::stored::Stored;
use crate::task::Task;

/// A function that is called on a context: the compiler takes [`KnownTask`] before [`UnknownTask`].
#[derive(Debug)]
pub struct Called<F>(pub F);

/// A function that `#[task]` has made.
pub trait KnownTask<M> {
    /// Adds the task and its keys, once.
    fn add_to(&self, keys: &mut Keys);
}

/// Another function.
pub trait UnknownTask {
    /// Adds nothing.
    fn add_to(&self, _: &mut Keys) {}
}

impl<F> UnknownTask for &Called<F> {}

fn add<K: Task>(keys: &mut Keys) {
    if !keys.has_task(K::NAME) {
        let key = KeyInfo::new(K::NAME, KeyKind::Task).typed(K::OUTPUT);
        keys.add(K::Output::shaped(key));
        K::keys(keys);
    }
}

macro_rules! functions {
    ($(($($argument:ident),*))*) => {$(
        impl<F, K, $($argument),*> KnownTask<(K, ($($argument,)*))> for Called<F>
        where
            K: Task,
            F: Fn($($argument),*) -> TaskCall<K>,
        {
            fn add_to(&self, keys: &mut Keys) {
                add::<K>(keys);
            }
        }
    )*};
}

functions!(()(A)(A, B)(A, B, C)(A, B, C, D)(A, B, C, D, G)(
    A, B, C, D, G, H
));
