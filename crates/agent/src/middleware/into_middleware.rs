//! Lists of middleware.

use std::sync::Arc;

use super::AgentMiddleware;

/// A type that converts into a list of middleware: one, a tuple of up to twelve, or a `Vec` of
/// `Arc<dyn AgentMiddleware>`. `K` only separates these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not middleware of an agent",
    label = "expected middleware, or a tuple of up to twelve",
    note = "implement it with `#[middleware] impl AgentMiddleware for ..`; middleware around nodes goes on the graph: `agent.into_graph()?.middleware(..)`"
)]
pub trait IntoMiddleware<K> {
    /// Converts into the list, the outermost first.
    fn into_middleware(self) -> Vec<Arc<dyn AgentMiddleware>>;
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByOne {}

impl<M: AgentMiddleware> IntoMiddleware<ByOne> for M {
    fn into_middleware(self) -> Vec<Arc<dyn AgentMiddleware>> {
        vec![Arc::new(self)]
    }
}

impl IntoMiddleware<()> for Vec<Arc<dyn AgentMiddleware>> {
    fn into_middleware(self) -> Self {
        self
    }
}

macro_rules! tuples {
    ($($(($one:ident $value:ident))+;)*) => {$(
        impl<$($one: AgentMiddleware),+> IntoMiddleware<($($one,)+)> for ($($one,)+) {
            fn into_middleware(self) -> Vec<Arc<dyn AgentMiddleware>> {
                let ($($value,)+) = self;
                vec![$(Arc::new($value)),+]
            }
        }
    )*};
}

tuples!(
    (A a);
    (A a)(B b);
    (A a)(B b)(C c);
    (A a)(B b)(C c)(D d);
    (A a)(B b)(C c)(D d)(E e);
    (A a)(B b)(C c)(D d)(E e)(F f);
    (A a)(B b)(C c)(D d)(E e)(F f)(G g);
    (A a)(B b)(C c)(D d)(E e)(F f)(G g)(H h);
    (A a)(B b)(C c)(D d)(E e)(F f)(G g)(H h)(I i);
    (A a)(B b)(C c)(D d)(E e)(F f)(G g)(H h)(I i)(J j);
    (A a)(B b)(C c)(D d)(E e)(F f)(G g)(H h)(I i)(J j)(K k);
    (A a)(B b)(C c)(D d)(E e)(F f)(G g)(H h)(I i)(J j)(K k)(L l);
);
