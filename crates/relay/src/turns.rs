//! Two futures, of which none keeps the other one from its time.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Which of two futures is polled first: each is, in turn. A simulation repeats it, as it does not repeat what chance
/// chooses.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    other_is_first: bool,
}

/// What has ended.
#[derive(Debug)]
pub(crate) enum Either<A, B> {
    One(A),
    Other(B),
}

impl Turns {
    /// Waits until one of them ends, and drops the other one.
    pub(crate) async fn either<A, B>(
        &mut self,
        one: impl Future<Output = A>,
        other: impl Future<Output = B>,
    ) -> Either<A, B> {
        let (mut one, mut other) = (pin!(one), pin!(other));
        poll_fn(|cx| {
            self.other_is_first = !self.other_is_first;
            for polls_other in [self.other_is_first, !self.other_is_first] {
                if polls_other {
                    if let Poll::Ready(ended) = other.as_mut().poll(cx) {
                        return Poll::Ready(Either::Other(ended));
                    }
                } else if let Poll::Ready(ended) = one.as_mut().poll(cx) {
                    return Poll::Ready(Either::One(ended));
                }
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn futures_that_are_always_ready_take_turns() {
        let mut turns = Turns::default();
        let mut order = String::new();
        for _ in 0..4 {
            match turns.either(ready('a'), ready('b')).await {
                Either::One(ended) | Either::Other(ended) => order.push(ended),
            }
        }
        assert_eq!(order, "baba");
        let ended = turns.either(pending::<()>(), ready('b')).await;
        assert!(matches!(ended, Either::Other('b')));
        let ended = turns.either(ready('a'), pending::<()>()).await;
        assert!(matches!(ended, Either::One('a')));
    }
}
