//! The last items of a sequence, for several readers.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The last items of a growing sequence, which several readers read at their own pace.
///
/// A backlog is bounded: by the number of its items, and by their weight. [`push`](Self::push)
/// drops the oldest item when there is no room. A producer that must not drop what a reader has
/// yet to see waits for [`poll_room`](Self::poll_room) first.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph_http::{Backlog, Read};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let backlog = Arc::new(Backlog::new(2, usize::MAX));
/// let mut slow = Backlog::reader(&backlog, 0);
/// for text in ["a", "b", "c"] {
///     backlog.push(text, text.len());
/// }
/// // Item 0 was dropped: a reader that can read it somewhere else goes on at 1.
/// assert_eq!(slow.next().await, Read::Missed { first: 1 });
/// slow.seek(1);
/// assert_eq!(slow.next().await, Read::Item("b"));
/// backlog.end();
/// assert_eq!(slow.next().await, Read::Item("c"));
/// assert_eq!(slow.next().await, Read::Ended);
/// # }
/// ```
pub struct Backlog<T> {
    items: usize,
    weight: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// The items, each with its weight.
    items: VecDeque<(T, usize)>,
    weight: usize,
    /// The number of the first item that is kept.
    first: u64,
    ended: bool,
    next_reader: u64,
    /// In the order in which they came, in which they are woken.
    readers: BTreeMap<u64, Position>,
    /// Wakes the producer.
    producer: Option<Waker>,
}

struct Position {
    next: u64,
    waker: Option<Waker>,
}

/// What a reader of a [`Backlog`] gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read<T> {
    /// The next item.
    Item(T),
    /// The next item is not kept any more; `first` is the number of the first one that is.
    Missed {
        /// The number of the first item that is kept.
        first: u64,
    },
    /// All items were read, and there will be no more.
    Ended,
}

impl<T> State<T> {
    fn end(&self) -> u64 {
        self.first + self.items.len() as u64
    }

    fn wake_producer(&mut self) {
        if let Some(producer) = self.producer.take() {
            producer.wake();
        }
    }

    fn wake_readers(&mut self) {
        let wakers = self.readers.values_mut();
        wakers
            .filter_map(|reader| reader.waker.take())
            .for_each(Waker::wake);
    }
}

impl<T> Backlog<T> {
    /// Creates a backlog that keeps at most that many items of at most that weight together; one
    /// item is always kept.
    pub fn new(items: usize, weight: usize) -> Self {
        Self::starting_at(0, items, weight)
    }

    /// As [`new`](Self::new), for a sequence whose first items are kept in another place.
    pub fn starting_at(first: u64, items: usize, weight: usize) -> Self {
        Self {
            items: items.max(1),
            weight,
            state: Mutex::new(State {
                items: VecDeque::new(),
                weight: 0,
                first,
                ended: false,
                next_reader: 0,
                readers: BTreeMap::new(),
                producer: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many of the oldest items another one drops: several light ones for a heavy one.
    fn surplus(&self, state: &State<T>) -> u64 {
        let (mut items, mut weight) = (state.items.len(), state.weight);
        let mut surplus = 0;
        for (_, dropped) in &state.items {
            if items < self.items && weight < self.weight {
                break;
            }
            items -= 1;
            weight -= dropped;
            surplus += 1;
        }
        surplus
    }

    /// Adds an item, and drops the oldest ones if there is no room.
    pub fn push(&self, item: T, weight: usize) {
        let mut state = self.state();
        for _ in 0..self.surplus(&state) {
            let Some((_, dropped)) = state.items.pop_front() else {
                break;
            };
            state.weight -= dropped;
            state.first += 1;
        }
        state.items.push_back((item, weight));
        state.weight += weight;
        state.wake_readers();
    }

    /// Returns `Ready` when another item drops none that a reader has yet to see.
    pub fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        let kept = state.first + self.surplus(&state);
        let mut readers = state.readers.values();
        if kept == state.first || readers.all(|reader| reader.next >= kept) {
            return Poll::Ready(());
        }
        state.producer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Wakes the producer's task when a reader comes, goes on or leaves.
    pub(crate) fn register_producer(&self, cx: &Context<'_>) {
        self.state().producer = Some(cx.waker().clone());
    }

    pub(crate) fn wake_producer(&self) {
        self.state().wake_producer();
    }

    /// Moves the readers that hold back the producer to the first item that would stay.
    pub fn drop_slow_readers(&self) {
        let mut state = self.state();
        let kept = state.first + self.surplus(&state);
        state.readers.retain(|_, reader| {
            let slow = reader.next < kept;
            if slow && let Some(waker) = reader.waker.take() {
                waker.wake();
            }
            !slow
        });
    }

    /// There will be no more items.
    pub fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.wake_readers();
    }

    /// Returns true after [`end`](Self::end).
    pub fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// Returns the number of the first item that is kept.
    pub fn first(&self) -> u64 {
        self.state().first
    }

    /// Returns the number of the next item.
    pub fn next(&self) -> u64 {
        self.state().end()
    }

    /// Returns true while there is a reader.
    pub fn is_read(&self) -> bool {
        !self.state().readers.is_empty()
    }

    /// Reads from the item of that number on.
    pub fn reader(backlog: &Arc<Self>, next: u64) -> BacklogReader<T> {
        let mut state = backlog.state();
        let id = state.next_reader;
        state.next_reader += 1;
        state.readers.insert(id, Position { next, waker: None });
        state.wake_producer();
        drop(state);
        BacklogReader {
            backlog: Arc::clone(backlog),
            id,
        }
    }
}

impl<T> fmt::Debug for Backlog<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Backlog")
            .field("first", &state.first)
            .field("next", &state.end())
            .field("ended", &state.ended)
            .finish_non_exhaustive()
    }
}

/// A reader of a [`Backlog`].
#[derive(Debug)]
pub struct BacklogReader<T> {
    backlog: Arc<Backlog<T>>,
    id: u64,
}

impl<T: Clone> BacklogReader<T> {
    /// Returns the next item, when there is one.
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Read<T>> {
        let mut state = self.backlog.state();
        let state = &mut *state;
        let first = state.first;
        let Some(position) = state.readers.get_mut(&self.id) else {
            return Poll::Ready(Read::Missed { first });
        };
        if position.next < first {
            return Poll::Ready(Read::Missed { first });
        }
        let index = usize::try_from(position.next - first).unwrap_or(usize::MAX);
        if let Some((item, _)) = state.items.get(index) {
            position.next += 1;
            let item = item.clone();
            state.wake_producer();
            return Poll::Ready(Read::Item(item));
        }
        if state.ended {
            return Poll::Ready(Read::Ended);
        }
        position.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Waits for the next item.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no item is lost.
    pub async fn next(&mut self) -> Read<T> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }
}

impl<T> BacklogReader<T> {
    /// Goes on at the item of that number.
    pub fn seek(&mut self, next: u64) {
        let mut state = self.backlog.state();
        let position = Position { next, waker: None };
        state.readers.insert(self.id, position);
        state.wake_producer();
    }
}

impl<T> Drop for BacklogReader<T> {
    fn drop(&mut self) {
        let mut state = self.backlog.state();
        state.readers.remove(&self.id);
        state.wake_producer();
    }
}
