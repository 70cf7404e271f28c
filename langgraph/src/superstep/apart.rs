//! Futures that are compiled as functions of their own.

use std::pin::Pin;
use std::task::{Context, Poll};

/// A future whose poll is not inlined into that of its caller: a loop in it keeps the registers that it has, whatever
/// its caller does.
pub(super) struct Apart<'a, F>(pub(super) Pin<&'a mut F>);

impl<F: Future> Future for Apart<'_, F> {
    type Output = F::Output;

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.0.as_mut().poll(cx)
    }
}
