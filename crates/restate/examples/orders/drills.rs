//! The drills of `tests/peers/restate.sh`: programs and servers that are killed.

use std::fs::OpenOptions;
use std::io::{Error, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use langgraph::prelude::*;
use langgraph_restate::{RemoteThread, Restate, RestateError};
use serde::Deserialize;
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::{sleep, timeout};

mod latency;

type Failure = Box<dyn std::error::Error>;

/// Listens beside other processes of this program: the kernel gives each connection to one of them.
pub(crate) fn listen(port: u16) -> Result<TcpListener, Error> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    #[cfg(unix)]
    socket.set_reuseport(true)?;
    socket.set_nodelay(true)?;
    socket.bind(([127, 0, 0, 1], port).into())?;
    socket.listen(1_024)
}

/// Notes an item of which it is unknown whether it is off the shelf.
pub(crate) fn unknown(item: &str) -> Result<(), NodeError> {
    let file = std::env::var("UNKNOWN").unwrap_or_else(|_| "unknown.txt".to_owned());
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    Ok(file.write_all(format!("{item}\n").as_bytes())?)
}

/// Notes that this process has run a task, if `PROCESSES` names a file for it.
pub(crate) fn count_process() -> Result<(), Error> {
    let Ok(file) = std::env::var("PROCESSES") else {
        return Ok(());
    };
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())
}

pub(crate) async fn run(restate: &Restate, drill: &[&str]) -> Result<(), Failure> {
    match *drill {
        ["kill", rounds] => tokio::select! {
            done = kill(restate, rounds.parse()?) => done,
            // The server and the service end with this program.
            _ = tokio::signal::ctrl_c() => Err("stopped".into()),
        },
        ["latency", calls] => tokio::select! {
            done = latency::run(restate, calls.parse()?) => done,
            _ = tokio::signal::ctrl_c() => Err("stopped".into()),
        },
        _ => Err("usage: orders serve PORT | kill ROUNDS | latency CALLS".into()),
    }
}

/// What the drills read of an order.
#[derive(Debug, PartialEq, Deserialize)]
struct Order {
    packed: Vec<String>,
    log: Vec<String>,
}

/// When something is killed.
const PHASES: [&str; 6] = [
    "as it starts",
    "while it waits for the answer",
    "as it is answered",
    "while items are packed",
    "while it waits for the payment",
    "as the payment comes",
];

/// How long an order may take.
const STILL: Duration = Duration::from_secs(100);

/// A program that is killed and started again.
struct Victim {
    command: Command,
    child: Child,
}

impl Victim {
    fn start(mut command: Command) -> Result<Self, Error> {
        let child = command.spawn()?;
        Ok(Self { command, child })
    }

    fn kill(&mut self) -> Result<(), Error> {
        self.child.kill()?;
        self.child.wait()?;
        self.child = self.command.spawn()?;
        Ok(())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn variable(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|_| format!("`{name}` is not set").into())
}

/// The server, with its output in a file.
fn server() -> Result<Victim, Failure> {
    let mut command = Command::new(variable("RESTATE_SERVER")?);
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(variable("SERVER_LOG")?)?;
    command
        .arg("--no-logo")
        .stdout(log.try_clone()?)
        .stderr(log);
    Ok(Victim::start(command)?)
}

fn service() -> Result<Victim, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(variable("SERVICE_LOG")?)?;
    command
        .args(["serve", &variable("SERVICE_PORT")?])
        .stdin(Stdio::null());
    command.stdout(log.try_clone()?).stderr(log);
    Ok(Victim::start(command)?)
}

/// The processes of the service, which share a port: as many as `SERVICES` says, or one.
fn services() -> Result<Vec<Victim>, Failure> {
    let number = std::env::var("SERVICES").map_or(Ok(1), |number| number.parse())?;
    (0..number).map(|_: usize| service()).collect()
}

/// Registers the service, as soon as both answer.
async fn register() -> Result<(), Failure> {
    let admin = variable("RESTATE_ADMIN_URL")?;
    let uri = format!("http://127.0.0.1:{}", variable("SERVICE_PORT")?);
    let since = Instant::now();
    loop {
        let request = Command::new("curl")
            .args([
                "-sf",
                &format!("{admin}/deployments"),
                "-H",
                "content-type: application/json",
            ])
            .args(["-d", &json!({"uri": uri, "force": true}).to_string()])
            .stdout(Stdio::null())
            .status()?;
        if request.success() {
            return Ok(());
        }
        if since.elapsed() > Duration::from_secs(60) {
            return Err("Restate does not take the service".into());
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// Shows the calls that Restate has not ended.
fn show_open() {
    let Ok(admin) = std::env::var("RESTATE_ADMIN_URL") else {
        return;
    };
    let query = "select target, status, retry_count, last_failure, journal_size from sys_invocation where status not in ('completed', 'scheduled')";
    let _ = Command::new("curl")
        .args([
            "-s",
            &format!("{admin}/query"),
            "-H",
            "accept: application/json",
        ])
        .args(["-H", "content-type: application/json"])
        .args(["-d", &json!({"query": query}).to_string()])
        .status();
}

/// Kills the service or the server once in each order, and compares the ends.
async fn kill(restate: &Restate, rounds: usize) -> Result<(), Failure> {
    let mut server = server()?;
    let mut services = services()?;
    register().await?;
    let ledger = PathBuf::from(variable("LEDGER")?);
    let unknown = PathBuf::from(variable("UNKNOWN")?);
    let began = Instant::now();
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        let phase = PHASES[round % PHASES.len()];
        let kills_server = round / PHASES.len() % 2 == 1;
        let name = format!("order-{round}");
        let thread = restate.thread("orders", &name);
        let items: Vec<_> = (0..6).map(|item| format!("{name}/{item}")).collect();
        let mut hit = false;
        let mut strike = |now: &str| -> Result<(), Failure> {
            if now == phase && !hit {
                hit = true;
                if kills_server {
                    server.kill()?;
                } else {
                    let victim = round % services.len();
                    services[victim].kill()?;
                }
            }
            Ok(())
        };
        let since = Instant::now();
        let order = async {
            let input = json!({"items": items, "work_ms": 60, "patience_ms": 600_000});
            let input = complete(input);
            let began = spawn(&thread, Call::Start(input));
            strike("as it starts")?;
            began.await??;
            strike("while it waits for the answer")?;
            let answered = spawn(&thread, Call::Answer);
            strike("as it is answered")?;
            while !written(&ledger, &unknown)?.contains(&name) {
                if answered.is_finished() {
                    break;
                }
                sleep(Duration::from_millis(5)).await;
            }
            strike("while items are packed")?;
            answered.await??;
            strike("while it waits for the payment")?;
            let paid = spawn(&thread, Call::Paid);
            strike("as the payment comes")?;
            paid.await??;
            let end = thread.state().await?.ok_or("the thread is gone")?;
            let wanted = Order {
                packed: items.clone(),
                log: ["6 items", "approved", "4200 cents came in"]
                    .map(str::to_owned)
                    .to_vec(),
            };
            let found: Order = end.values()?;
            if !end.is_done() || found != wanted {
                return Err(format!("round {round}, {phase}: {end:?}").into());
            }
            let lines = std::fs::read_to_string(&ledger)?;
            let doubtful = std::fs::read_to_string(&unknown).unwrap_or_default();
            for item in &items {
                let taken = lines.lines().filter(|line| line == item).count();
                let asked = doubtful.lines().any(|line| line == item);
                if taken > 1 || taken == 0 && !asked {
                    return Err(
                        format!("round {round}, {phase}: {item} was taken {taken} times").into(),
                    );
                }
            }
            Ok::<(), Failure>(())
        };
        let Ok(ended) = timeout(STILL, order).await else {
            show_open();
            return Err(format!("round {round}, {phase}: it stands still").into());
        };
        ended?;
        slowest = slowest.max(since.elapsed());
    }
    let asked = std::fs::read_to_string(&unknown)
        .unwrap_or_default()
        .lines()
        .count();
    println!(
        "{rounds} orders, a kill -9 in each, of the server and of {} processes of the service in turn, in {} phases: all ends are equal; no item was taken twice, {asked} were reported as unknown; the slowest took {:.1} s, all of them {:.0} s",
        services.len(),
        PHASES.len(),
        slowest.as_secs_f64(),
        began.elapsed().as_secs_f64(),
    );
    Ok(())
}

/// Adds what an order has besides.
fn complete(mut input: serde_json::Value) -> serde_json::Value {
    for (key, value) in [
        ("packed", json!([])),
        ("log", json!([])),
        ("approved", json!(false)),
    ] {
        input
            .as_object_mut()
            .map(|fields| fields.entry(key).or_insert(value));
    }
    input
}

fn written(ledger: &PathBuf, unknown: &PathBuf) -> Result<String, Error> {
    let read = |file| match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    };
    Ok(read(ledger)? + &read(unknown)?)
}

enum Call {
    Start(serde_json::Value),
    Answer,
    Paid,
}

fn spawn(thread: &RemoteThread, call: Call) -> tokio::task::JoinHandle<Result<(), RestateError>> {
    let thread = thread.clone();
    tokio::spawn(async move {
        match call {
            Call::Start(input) => thread.start(input).await?,
            Call::Answer => thread.answer(true).await?,
            Call::Paid => thread.signal("paid", 4_200).await?,
        };
        Ok(())
    })
}
