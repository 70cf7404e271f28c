//! What the programs have in common: the clients, the clock, and what is printed.
//!
//! Usage of each: `program THREADS SECONDS`. It prints `ready` when it is connected and warm, measures
//! after a line on standard input, prints the supersteps, the seconds, and the microseconds of a superstep
//! (p50, p99), and ends after another line: what its processes have written can be read before and after.

use std::io::Write;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

/// The steps of a chain.
pub const STEPS: u64 = 20;

/// How long the chains run before: connections are made, statements prepared, caches filled.
const WARM: Duration = Duration::from_secs(1);

static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The times between the steps of each chain, in microseconds.
static TIMES: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// What each step returns, and what is stored before the next one.
pub fn payload() -> String {
    "x".repeat(500)
}

/// Begins a step, and returns its time, in microseconds. `last` is that of the step before it; 0: there is none.
pub fn step(last: u64) -> u64 {
    let now = u64::try_from(BEGUN.elapsed().as_micros()).unwrap().max(1);
    if last > 0 {
        TIMES.lock().unwrap().push(now - last);
    }
    now
}

/// A runtime on two cores, for the program and its clients.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Runs chains, each with a name of its own, in as many tasks at once as the program's arguments say.
pub async fn measure<R, F>(run: R)
where
    R: Fn(String) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send,
{
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse());
    let (threads, seconds) = match (arguments.next(), arguments.next()) {
        (Some(Ok(threads)), Some(Ok(seconds))) => (threads, Duration::from_secs(seconds)),
        _ => panic!("usage: THREADS SECONDS"),
    };
    clients("warm", threads, WARM, &run).await;
    println!("ready");
    wait();

    TIMES.lock().unwrap().clear();
    let begun = Instant::now();
    let runs = clients("run", threads, seconds, &run).await;
    let seconds = begun.elapsed().as_secs_f64();
    let mut times = std::mem::take(&mut *TIMES.lock().unwrap());
    times.sort_unstable();
    let percentile = |of: usize| times[(times.len() * of / 100).min(times.len() - 1)];
    let (p50, p99) = (percentile(50), percentile(99));
    println!("{} {seconds} {p50} {p99}", runs * STEPS);
    wait();
}

/// Returns how many chains have run: at least one for each client.
async fn clients<R, F>(kind: &'static str, threads: u64, time: Duration, run: &R) -> u64
where
    R: Fn(String) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send,
{
    let begun = Instant::now();
    let clients = (0..threads).map(|client| {
        let run = run.clone();
        tokio::spawn(async move {
            let mut runs = 0;
            while runs == 0 || begun.elapsed() < time {
                run(format!("{kind}-{client}-{runs}")).await;
                runs += 1;
            }
            runs
        })
    });
    let mut runs = 0;
    for client in clients.collect::<Vec<_>>() {
        runs += client.await.unwrap();
    }
    runs
}

/// Waits for a line.
fn wait() {
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
}
