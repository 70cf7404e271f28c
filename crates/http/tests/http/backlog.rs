//! What a producer that waits for its readers may add.

use std::future::poll_fn;
use std::sync::Arc;

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
