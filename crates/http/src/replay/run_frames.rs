//! One run, with its last frames.

use std::collections::{HashMap, VecDeque};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use langgraph::AgentError;
use tokio::time::Sleep;

use crate::{Frame, FrameId};

/// One run, with its last frames.
pub(super) struct RunFrames {
    run: Arc<str>,
    capacity: usize,
    state: Mutex<Shelf>,
}

#[derive(Default)]
pub(super) struct Shelf {
    frames: VecDeque<Frame>,
    /// The number of the first of them.
    first: u64,
    ended: bool,
    cancelled: bool,
    next_reader: u64,
    readers: HashMap<u64, Place>,
    /// Wakes what drives the run.
    driver: Option<Waker>,
}

/// Where a reader is.
struct Place {
    next: u64,
    waker: Option<Waker>,
}

impl Shelf {
    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    fn wake_readers(&mut self) {
        let wakers = self.readers.values_mut();
        wakers
            .filter_map(|reader| reader.waker.take())
            .for_each(Waker::wake);
    }

    fn end(&self) -> u64 {
        self.first + self.frames.len() as u64
    }

    /// True when another frame pushes out none that a reader has yet to see.
    fn has_room(&self, capacity: usize) -> bool {
        self.frames.len() < capacity || self.readers.values().all(|place| place.next > self.first)
    }
}

impl RunFrames {
    pub(super) fn new(run: &str, capacity: usize) -> Self {
        Self {
            run: run.into(),
            capacity,
            state: Mutex::default(),
        }
    }

    pub(super) fn run_id(&self) -> &str {
        &self.run
    }

    /// The number of the first frame that is kept.
    pub(super) fn first(&self) -> u64 {
        self.shelf().first
    }

    /// The number of the first frame that is kept, that of the next one, and whether that will
    /// never come.
    pub(super) fn range(&self) -> (u64, u64, bool) {
        let shelf = self.shelf();
        (shelf.first, shelf.end(), shelf.ended)
    }

    /// Stops the run. False when it has ended.
    pub(super) fn cancel(&self) -> bool {
        let mut shelf = self.shelf();
        if shelf.ended {
            return false;
        }
        shelf.cancelled = true;
        shelf.wake_driver();
        true
    }

    /// Takes the frames of the run, until it ends, is cancelled, or nobody reads for `grace`.
    pub(super) async fn drive(&self, frames: impl Stream<Item = Frame>, grace: Duration) {
        {
            let mut frames = pin!(frames);
            let mut alone = None;
            let stopped = |cx: &mut Context<'_>| self.poll(frames.as_mut(), &mut alone, grace, cx);
            std::future::poll_fn(stopped).await;
        }
        // The run is dropped before its readers see the end.
        let mut shelf = self.shelf();
        if !shelf.frames.back().is_some_and(Frame::is_last) {
            let id = FrameId::new(&self.run, shelf.end());
            let frame = Frame::error(id, &AgentError::Cancelled);
            shelf.frames.push_back(frame);
        }
        shelf.ended = true;
        shelf.wake_readers();
    }

    fn poll(
        &self,
        mut frames: Pin<&mut impl Stream<Item = Frame>>,
        alone: &mut Option<Pin<Box<Sleep>>>,
        grace: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        loop {
            {
                let mut shelf = self.shelf();
                shelf.driver = Some(cx.waker().clone());
                if shelf.cancelled {
                    return Poll::Ready(());
                }
                if !shelf.readers.is_empty() {
                    *alone = None;
                }
                let is_read = !shelf.readers.is_empty();
                let has_room = shelf.has_room(self.capacity);
                drop(shelf);
                if !is_read {
                    let sleep = alone.get_or_insert_with(|| Box::pin(tokio::time::sleep(grace)));
                    if grace.is_zero() || sleep.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                }
                if !has_room {
                    return Poll::Pending;
                }
            }
            match frames.as_mut().poll_next(cx) {
                Poll::Ready(Some(frame)) => self.push(frame),
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn push(&self, frame: Frame) {
        let mut shelf = self.shelf();
        if shelf.frames.len() >= self.capacity {
            shelf.frames.pop_front();
            shelf.first += 1;
        }
        shelf.frames.push_back(frame);
        shelf.wake_readers();
    }

    /// Begins to read at a frame.
    pub(super) fn enter(&self, next: u64) -> u64 {
        let mut shelf = self.shelf();
        let reader = shelf.next_reader;
        shelf.next_reader += 1;
        let place = Place { next, waker: None };
        shelf.readers.insert(reader, place);
        shelf.wake_driver();
        reader
    }

    /// A reader goes away.
    pub(super) fn leave(&self, reader: u64) {
        let mut shelf = self.shelf();
        shelf.readers.remove(&reader);
        shelf.wake_driver();
    }

    /// The next frame of a reader.
    pub(super) fn poll_read(&self, reader: u64, cx: &Context<'_>) -> Poll<Option<Frame>> {
        let mut shelf = self.shelf();
        let shelf = &mut *shelf;
        let Some(place) = shelf.readers.get_mut(&reader) else {
            return Poll::Ready(None);
        };
        // Frames that were dropped between the request and its first read are gone.
        place.next = place.next.max(shelf.first);
        let index = usize::try_from(place.next - shelf.first).unwrap_or(usize::MAX);
        if let Some(frame) = shelf.frames.get(index) {
            place.next += 1;
            let frame = frame.clone();
            shelf.wake_driver();
            return Poll::Ready(Some(frame));
        }
        if shelf.ended {
            return Poll::Ready(None);
        }
        place.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
