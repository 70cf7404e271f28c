//! What a producer that waits for its readers may add.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use futures_util::FutureExt;
use langgraph_http::{Backlog, Read};

fn has_room(backlog: &Backlog<&str>) -> bool {
    poll_fn(|cx| backlog.poll_room(cx)).now_or_never().is_some()
}

#[tokio::test]
async fn a_heavy_item_waits_for_readers_of_all_that_it_drops() {
    let backlog = Arc::new(Backlog::new(10, 100));
    let mut reader = Backlog::reader(&backlog, 0);
    backlog.push("light", 1);
    backlog.push("heavy", 200);
    assert_eq!(reader.next().await, Read::Item("light"));
    // Without the light one there is still no room.
    assert!(!has_room(&backlog));
    assert_eq!(reader.next().await, Read::Item("heavy"));
    assert!(has_room(&backlog));
    backlog.push("next", 1);
    assert_eq!(reader.next().await, Read::Item("next"));
}

#[tokio::test]
async fn a_reader_that_holds_up_a_heavy_item_can_be_dropped() {
    let backlog = Arc::new(Backlog::new(10, 100));
    let mut reader = Backlog::reader(&backlog, 0);
    backlog.push("light", 1);
    backlog.push("heavy", 200);
    assert_eq!(reader.next().await, Read::Item("light"));
    backlog.drop_slow_readers();
    assert!(has_room(&backlog));
}

/// Notes its number when it is woken.
struct Noted(usize, Arc<Mutex<Vec<usize>>>);

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

#[test]
fn readers_are_woken_in_the_order_in_which_they_came() {
    const READERS: usize = 12;
    let woken = Arc::new(Mutex::new(Vec::new()));
    let backlog = Arc::new(Backlog::new(10, 100));
    let mut readers: Vec<_> = (0..READERS).map(|_| Backlog::reader(&backlog, 0)).collect();
    for (number, reader) in readers.iter_mut().enumerate() {
        let waker = Waker::from(Arc::new(Noted(number, Arc::clone(&woken))));
        assert!(reader.poll_next(&Context::from_waker(&waker)).is_pending());
    }
    backlog.push("item", 1);
    assert!(woken.lock().unwrap().iter().copied().eq(0..READERS));
}
