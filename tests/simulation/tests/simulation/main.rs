//! Servers, their clients, a relay with an agent behind it, workers, and the network between them, as processes of one
//! thread that one seed drives.
//!
//! `SEED=n` plays one seed and prints its story; `SEEDS=n` plays the first n, `FIRST=m` those from m on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod agent;
mod books;
mod clerk;
mod client;
mod customer;
mod graph;
mod holders;
mod hook;
mod host;
mod ledger;
mod network;
mod order;
mod outside;
mod relay;
mod server;
mod site;
mod stranger;
mod template;
mod tick;
mod trades;
mod watched;
mod worker;
mod world;

use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::{APPRAISER, AgentProgram};
use books::Books;
use clerk::ClerkProgram;
use client::Client;
use customer::Customer;
use graph::LEASE;
use host::Host;
use langgraph::environment::Process;
use langgraph_simulation::noting_panics;
use ledger::Ledger;
use network::Network;
use relay::{RELAY, RelayProgram};
use server::{ServerProgram, server_name};
use site::Site;
use tick::{run_for_a_tick, set_world};
use worker::WorkerProgram;
use world::{View, World};

/// How many seeds a test plays, unless `SEEDS` says so.
const SEEDS: u64 = 40;

/// Seeds whose story was not the same each time: several readers of a run waited for an event, or two records for one to
/// be stored.
const HAD_TWO_STORIES: [u64; 3] = [91, 111, 116];

/// How long things fail, and until when all has to be done.
const STORM: Duration = Duration::from_secs(60);
const END: Duration = Duration::from_secs(600);

/// Plays a seed, and returns what has happened and which promises were broken.
fn play(seed: u64) -> (Vec<String>, Vec<String>) {
    let folder = memory_folder();
    let world = World::new(seed);
    set_world(Some(world.clone()));
    let servers = usize::try_from(1 + world.below(3)).unwrap_or(1);
    let site = Site {
        network: Network::new(&world, servers),
        ledger: Arc::new(Ledger::new(&world)),
        file: folder.path().join("server.db"),
        has_agent: world.below(4) == 0,
        workers: some_workers(&world),
        is_calm: world.below(2) == 0,
        clerks: if world.below(12) == 0 { 2 } else { 0 },
        books: Books::default(),
        world: world.clone(),
    };
    template::prepare(&site.file, seed);
    let mut hosts = hosts(&site, servers);
    let customers = usize::try_from(1 + world.below(3)).unwrap_or(1);
    let (clients, process, shopped) = open_shop(&site, customers);
    while shopped.load(Ordering::Relaxed) < customers && !world.is_broken() {
        disturb_database(&site);
        for host in &mut hosts {
            host.tick();
        }
        let entered = process.enter();
        run_for_a_tick(&clients, |_| false);
        drop(entered);
        world.advance();
        if world.elapsed() > STORM {
            world.be_quiet();
        }
        if world.elapsed() > END {
            world.violate("clients still wait");
        }
    }
    drop(clients);
    hosts.iter_mut().for_each(Host::end);
    set_world(None);
    (world.story(), world.violations())
}

/// Draws how many workers there are: none, in most seeds.
fn some_workers(world: &World) -> usize {
    match world.below(8) {
        0 => 2,
        1 => 3,
        _ => 0,
    }
}

/// Returns the hosts, in the order in which they run.
fn hosts(site: &Site, servers: usize) -> Vec<Host> {
    let server = |number| {
        let site = site.clone();
        let program = ServerProgram { site, number };
        Host::new(&program.site.clone(), server_name(number), program)
    };
    let mut hosts: Vec<Host> = (0..servers).map(server).collect();
    if site.has_agent {
        let program = RelayProgram { site: site.clone() };
        hosts.push(Host::new(site, RELAY.to_owned(), program));
        let program = AgentProgram { site: site.clone() };
        hosts.push(Host::new(site, APPRAISER.to_owned(), program));
    }
    hosts.extend((0..site.workers).map(|number| {
        let name = format!("worker {number}");
        let program = WorkerProgram {
            site: site.clone(),
            name: name.clone(),
        };
        Host::new(site, name, program)
    }));
    hosts.extend((0..site.clerks).map(|number| {
        let name = format!("clerk {number}");
        let program = ClerkProgram {
            site: site.clone(),
            name: name.clone(),
        };
        Host::new(site, name, program)
    }));
    hosts
}

/// Lets the database be away, or fail, sometimes.
fn disturb_database(site: &Site) {
    let world = &site.world;
    if world.loses(3_000) {
        let time = LEASE + world.up_to(9_000);
        world.record(format!("the database is away for {} ms", time.as_millis()));
        world.be_away_until(world.elapsed() + time);
        site.ledger.interrupts_all(world.elapsed() + time);
    }
    if world.happens(700) {
        world.let_database_fail();
    }
}

/// A folder without a disk, where there is one.
fn memory_folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    folder.unwrap()
}

/// Starts the clients, which count themselves when they are done.
fn open_shop(
    site: &Site,
    customers: usize,
) -> (tokio::runtime::Runtime, Process, Arc<AtomicUsize>) {
    let view = View {
        world: site.world.clone(),
        name: "a client".into(),
        role: None,
        process: Arc::new(Mutex::new(0)),
    };
    let process = Process::new(Rc::new(view));
    let clients = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    if site.workers > 0 && site.world.below(2) == 0 {
        let entered = process.enter();
        clients.spawn(stranger::disturb(site.clone()));
        drop(entered);
    }
    let shopped = Arc::new(AtomicUsize::new(0));
    for number in 0..customers {
        let client = Client {
            world: site.world.clone(),
            network: site.network.clone(),
        };
        let customer = Customer::new(site.clone(), client, number);
        let shopped = Arc::clone(&shopped);
        clients.spawn(async move {
            customer.shop().await;
            shopped.fetch_add(1, Ordering::Relaxed);
        });
    }
    (clients, process, shopped)
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn check(seed: u64, prints: bool) {
    let ((story, mut violations), panics) = noting_panics(|| play(seed));
    violations.extend(panics);
    if prints || !violations.is_empty() {
        println!("{}", story.join("\n"));
    }
    assert!(
        violations.is_empty(),
        "seed {seed} (again with SEED={seed}): {}",
        violations.join("; ")
    );
}

#[test]
fn servers_keep_what_they_acknowledge() {
    if let Some(seed) = from_environment("SEED") {
        return check(seed, true);
    }
    let seeds = from_environment("SEEDS").unwrap_or(SEEDS);
    let begun = std::time::Instant::now();
    let first = from_environment("FIRST").unwrap_or(0);
    let next = AtomicU64::new(first);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        return;
                    }
                    // The other thread plays no further seed.
                    let ends = std::panic::catch_unwind(|| check(seed, false));
                    if let Err(panic) = ends {
                        next.store(u64::MAX / 2, Ordering::Relaxed);
                        std::panic::resume_unwind(panic);
                    }
                }
            });
        }
    });
    let seeds = seeds.saturating_sub(first);
    println!("{seeds} seeds in {:.1} s", begun.elapsed().as_secs_f64());
}

#[test]
fn a_seed_plays_the_same_story_each_time() {
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| take_task_ids(&has_ended));
        let _ends = EndsWhenDropped(&has_ended);
        let seeds = 0..from_environment("SEEDS").unwrap_or(7);
        for seed in seeds.chain(HAD_TWO_STORIES) {
            let (one, _) = play(seed);
            let (other, _) = play(seed);
            assert_eq!(one, other, "seed {seed}");
        }
    });
}

/// Takes numbers of tasks, as other tests may at any time: tokio drops the tasks of a runtime in an order that depends
/// on them.
fn take_task_ids(has_ended: &AtomicBool) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.unwrap();
    while !has_ended.load(Ordering::Relaxed) {
        runtime.spawn(async {});
        runtime.block_on(tokio::task::yield_now());
        std::thread::sleep(Duration::from_micros(100));
    }
}

struct EndsWhenDropped<'a>(&'a AtomicBool);

impl Drop for EndsWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
