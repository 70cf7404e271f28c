//! Ids of threads and of forks of the process differ, and sort by time.

use std::collections::HashSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use langgraph_core::checkpoint::CheckpointId;
use langgraph_core::new_id;
use uuid::Uuid;

/// Creates ids of both kinds.
fn some_ids(count: usize) -> Vec<Uuid> {
    let checkpoint = || Uuid::from_bytes(CheckpointId::after(None).to_bytes());
    let pairs = (0..count / 2).flat_map(|_| [new_id(), checkpoint()]);
    pairs.collect()
}

#[test]
fn ids_of_many_threads_differ() {
    let threads = (0..8).map(|_| std::thread::spawn(|| some_ids(20_000)));
    let threads: Vec<_> = threads.collect();
    let ids: HashSet<Uuid> = threads
        .into_iter()
        .flat_map(|thread| thread.join().unwrap())
        .collect();
    assert_eq!(ids.len(), 160_000);
}

#[test]
fn ids_of_a_thread_increase() {
    let ids = some_ids(100_000);
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[test]
fn ids_say_when_they_were_made_and_sort_by_it() {
    let before = SystemTime::now();
    let mut last = new_id();
    for _ in 0..100 {
        std::thread::sleep(Duration::from_micros(50));
        let next = new_id();
        assert!(next > last, "{next} after {last}");
        last = next;
    }
    let (seconds, nanos) = last.get_timestamp().unwrap().to_unix();
    let made = UNIX_EPOCH + Duration::new(seconds, nanos);
    let slack = Duration::from_millis(1);
    assert!(made + slack >= before && made <= SystemTime::now() + slack);
}

#[cfg(unix)]
#[test]
fn a_fork_makes_other_ids() {
    use std::io::{Read, Write};

    use fork::{Fork, fork, waitpid};

    // The generator of this thread exists before the fork, which then has the same keys.
    new_id();
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    match fork().unwrap() {
        Fork::Child => {
            let ids = some_ids(2_000).into_iter().flat_map(Uuid::into_bytes);
            let sent = writer.write_all(&ids.collect::<Vec<_>>());
            std::process::exit(i32::from(sent.is_err()));
        }
        Fork::Parent(child) => {
            drop(writer);
            let own: HashSet<_> = some_ids(2_000).iter().map(random_part).collect();
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).unwrap();
            waitpid(child).unwrap();
            let ids = bytes.chunks(16).map(|id| Uuid::from_slice(id).unwrap());
            let others: HashSet<_> = ids.map(|id| random_part(&id)).collect();
            assert_eq!((own.len(), others.len()), (2_000, 2_000));
            assert!(own.is_disjoint(&others));
        }
    }
}

/// The bits that do not depend on the clock.
#[cfg(unix)]
fn random_part(id: &Uuid) -> u64 {
    id.as_u64_pair().1
}
