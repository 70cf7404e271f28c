use std::pin::pin;
use std::task::Wake;

use super::*;

struct Ignored;

impl Wake for Ignored {
    fn wake(self: Arc<Self>) {}
}

thread_local! {
    /// One for all polls: those of `Waker::noop` need not be the same one.
    static WAKER: Waker = Waker::from(Arc::new(Ignored));
}

/// Sends an event, or gives it back if there is no room.
fn try_send(sender: &EventSender<i32>, event: i32) -> Option<i32> {
    let mut queue = sender.open();
    if sender.0.unread(&queue.state) >= sender.0.room {
        return Some(event);
    }
    queue.put(event);
    queue.leave();
    None
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    WAKER.with(|waker| future.poll(&mut Context::from_waker(waker)))
}

#[test]
fn a_sender_waits_until_there_is_room() {
    let (sender, mut reader) = event_queue(1);
    assert_eq!(try_send(&sender, 1), None);
    assert_eq!(try_send(&sender, 2), Some(2));
    let mut sending = pin!(sender.send(2));
    assert!(poll(sending.as_mut()).is_pending());
    assert!(poll(sending.as_mut()).is_pending());
    assert_eq!(reader.queue.state.lock().senders.len(), 1);
    assert_eq!(reader.pop(), Some(1));
    assert!(poll(sending).is_ready());
    assert_eq!((reader.pop(), reader.pop()), (Some(2), None));
}

#[test]
fn events_beyond_the_room_are_added_at_once_and_then_waited_for() {
    let (sender, mut reader) = event_queue(2);
    let mut queue = sender.open();
    (1..=4).for_each(|event| queue.put(event));
    queue.leave();
    assert!(sender.lacks_room());
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut room = pin!(sender.room());
    let polled = room.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    assert_eq!(reader.pop(), Some(1));
    assert!(!woken.0.load(Ordering::SeqCst));
    assert!(sender.lacks_room());
    assert_eq!(reader.pop(), Some(2));
    assert!(woken.0.load(Ordering::SeqCst));
    assert!(!sender.lacks_room());
    assert!(poll(room).is_ready());
    assert_eq!((reader.pop(), reader.pop()), (Some(3), Some(4)));
    assert!(poll(pin!(sender.room())).is_ready());
}

#[test]
fn behind_the_end_no_sender_waits() {
    let (sender, mut reader) = event_queue(1);
    let mut queue = sender.open();
    queue.put(1);
    queue.put(2);
    queue.leave();
    reader.close();
    assert!(sender.open().is_closed());
    assert!(poll(pin!(sender.room())).is_ready());
    assert!(poll(pin!(sender.send(3))).is_ready());
    assert_eq!((reader.pop(), reader.pop()), (Some(1), Some(2)));
    assert_eq!(reader.pop(), None);
}

#[test]
fn events_that_were_taken_out_take_up_room_until_they_are_read() {
    let (sender, mut reader) = event_queue(2);
    assert_eq!((try_send(&sender, 1), try_send(&sender, 2)), (None, None));
    assert_eq!(reader.pop(), Some(1));
    assert_eq!(
        (try_send(&sender, 3), try_send(&sender, 4)),
        (None, Some(4))
    );
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut sending = pin!(sender.send(4));
    let polled = sending.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    assert_eq!(reader.pop(), Some(2));
    assert!(woken.0.load(Ordering::SeqCst));
    assert!(poll(sending).is_ready());
    assert_eq!((reader.pop(), reader.pop()), (Some(3), Some(4)));
    assert_eq!(reader.pop(), None);
}

#[test]
fn a_reader_that_looks_again_is_not_woken() {
    let (sender, mut reader) = event_queue(1);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    assert!(reader.poll_pop(&Context::from_waker(&waker)).is_pending());
    assert_eq!(reader.pop(), None);
    assert_eq!(try_send(&sender, 1), None);
    assert!(!woken.0.load(Ordering::SeqCst));
    assert_eq!(reader.pop(), Some(1));
    assert!(reader.poll_pop(&Context::from_waker(&waker)).is_pending());
    assert_eq!(try_send(&sender, 2), None);
    assert!(woken.0.load(Ordering::SeqCst));
}

#[test]
fn a_sender_that_was_dropped_while_it_waited_stops_no_other() {
    let (sender, mut reader) = event_queue(1);
    try_send(&sender, 1);
    let mut second = pin!(sender.send(3));
    {
        let first = pin!(sender.send(2));
        assert!(poll(first).is_pending());
    }
    assert!(poll(second.as_mut()).is_pending());
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let _ = second.as_mut().poll(&mut Context::from_waker(&waker));
    assert_eq!(reader.pop(), Some(1));
    assert!(woken.0.load(Ordering::SeqCst));
    assert!(poll(second).is_ready());
    assert_eq!(reader.pop(), Some(3));
}

#[test]
fn a_closed_queue_is_read_to_its_end() {
    let (sender, mut reader) = event_queue(2);
    let cx = Context::from_waker(Waker::noop());
    assert!(reader.poll_pop(&cx).is_pending());
    try_send(&sender, 1);
    reader.close();
    assert!(poll(pin!(sender.send(2))).is_ready());
    assert_eq!(reader.poll_pop(&cx), Poll::Ready(Some(1)));
    assert_eq!(reader.poll_pop(&cx), Poll::Ready(None));
}

#[test]
fn without_a_reader_no_sender_waits() {
    let (sender, reader) = event_queue(1);
    try_send(&sender, 1);
    let mut sending = pin!(sender.send(2));
    assert!(poll(sending.as_mut()).is_pending());
    drop(reader);
    assert!(poll(sending).is_ready());
}

#[derive(Default)]
struct Woken(AtomicBool);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}
