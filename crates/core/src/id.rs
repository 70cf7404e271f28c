//! Ids in the order of time, made without a system call.
//!
//! [`new_id`] returns a UUID of version 7, as RFC 9562 describes it: 60 bits of time, to a quarter of a
//! microsecond, and 62 bits that no other id has. A thread asks the operating system for random keys
//! once. Each id then hashes a counter under these keys with `SipHash`, which takes some 20 ns. Ids of
//! checkpoints and messages, which grant nothing to a reader who guesses them, mix a counter with `SplitMix64`
//! instead.
//!
//! ```
//! let (first, second) = (langgraph_core::new_id(), langgraph_core::new_id());
//! assert_ne!(first, second);
//! assert_eq!(first.get_version_num(), 7);
//! ```
//!
//! A process and its fork hold the same keys and the same counter. So the counter is salted with a hash
//! of the process id; a handler of `pthread_atfork` says when that has to be read anew.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::environment;

/// Creates an id that no other thread, process or fork creates.
///
/// Ids sort by time. Those of one thread increase, also when the clock was set back.
pub fn new_id() -> Uuid {
    generate(|generator| {
        let own = generator.hashed();
        generator.id(SystemTime::now(), own)
    })
}

/// As [`new_id`], at a time that the caller has read, for an id that may be guessed.
pub(crate) fn new_id_at(now: SystemTime) -> Uuid {
    generate(|generator| {
        let own = generator.mixed();
        generator.id(now, own)
    })
}

fn generate(next: impl Fn(&mut Generator) -> Uuid) -> Uuid {
    if let Some((time, own)) = environment::id_parts(time_after) {
        return assemble(time, own);
    }
    thread_local! {
        static GENERATOR: RefCell<Generator> = RefCell::new(Generator::new());
    }
    // A thread that ends has no generator any more.
    let id = GENERATOR.try_with(|generator| next(&mut generator.borrow_mut()));
    id.unwrap_or_else(|_| next(&mut Generator::new()))
}

struct Generator {
    keys: RandomState,
    fork: forkguard::Guard,
    /// Differs in a process and its fork.
    salt: u64,
    counter: u64,
    /// The state of `SplitMix64`.
    mixed: u64,
    /// The time of the last id, in 4096ths of a millisecond.
    time: u64,
}

impl Generator {
    fn new() -> Self {
        let mut generator = Self {
            keys: RandomState::new(),
            fork: forkguard::new(),
            salt: 0,
            counter: 0,
            mixed: 0,
            time: 0,
        };
        generator.seed();
        generator
    }

    fn seed(&mut self) {
        self.salt = self.keys.hash_one(std::process::id());
        self.mixed = self.keys.hash_one((self.salt, self.counter));
    }

    fn notice_fork(&mut self) {
        if self.fork.detected_fork() {
            self.seed();
        }
    }

    fn hashed(&mut self) -> u64 {
        self.notice_fork();
        self.counter = self.counter.wrapping_add(1);
        self.keys.hash_one(self.counter ^ self.salt)
    }

    /// See "Fast splittable pseudorandom number generators", Steele, Lea and Flood, 2014.
    fn mixed(&mut self) -> u64 {
        self.notice_fork();
        self.mixed = self.mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.mixed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Puts the time, the version, the variant and 62 bits together.
    fn id(&mut self, now: SystemTime, own: u64) -> Uuid {
        self.time = time_after(now, self.time);
        assemble(self.time, own)
    }
}

/// Returns a time in 4096ths of a millisecond, after the last one.
fn time_after(now: SystemTime, last: u64) -> u64 {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let nanos = u64::from(now.subsec_nanos());
    let millis = now.as_secs().wrapping_mul(1000) + nanos / 1_000_000;
    let part = nanos % 1_000_000 * 4096 / 1_000_000;
    (millis << 12 | part).max(last + 1)
}

fn assemble(time: u64, own: u64) -> Uuid {
    let (millis, part) = (time >> 12, time & 0xfff);
    let high = millis << 16 | 7 << 12 | part;
    let low = 0b10 << 62 | own >> 2;
    Uuid::from_u64_pair(high, low)
}
