//! A server, as one process after the other on the same file.

use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use langgraph::environment::Process;
use langgraph_server::Server;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use crate::graph::{LEASE, served};
use crate::hook::Hook;
use crate::ledger::Ledger;
use crate::network::{Network, answer};
use crate::world::{TICK, View, World};

/// What all hosts of a world share.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) world: World,
    pub(crate) network: Network,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) file: PathBuf,
}

/// A host with a server.
pub(crate) struct Host {
    site: Site,
    number: usize,
    life: Option<Life>,
    /// When the next process starts.
    starts: Duration,
    /// Until when the process stands still.
    stands_until: Option<Duration>,
}

struct Life {
    process: Process,
    runtime: Option<Runtime>,
    /// Tells the server how long it may take to end.
    drains: mpsc::UnboundedSender<Duration>,
    is_draining: bool,
    has_ended: Arc<AtomicBool>,
}

impl Host {
    pub(crate) fn new(site: &Site, number: usize) -> Self {
        let starts = site.world.up_to(2_000);
        Self {
            site: site.clone(),
            number,
            life: None,
            starts,
            stands_until: None,
        }
    }

    /// Runs for a tick.
    pub(crate) fn tick(&mut self) {
        let now = self.site.world.elapsed();
        if self.life.is_none() && now >= self.starts {
            self.start();
        }
        if let Some(until) = self.stands_until {
            if now < until {
                return;
            }
            self.stands_until = None;
            if let Some(life) = &self.life {
                self.site.ledger.interrupts(life.process.number());
            }
            self.record("goes on");
        }
        self.fail();
        let world = self.site.world.clone();
        let Some(life) = &self.life else { return };
        life.run();
        if world.has_crashed(life.process.number()) {
            self.end();
        } else if life.has_ended.load(Ordering::Relaxed) {
            self.record("has drained");
            self.end();
        }
    }

    fn record(&self, what: &str) {
        let number = self.number;
        self.site.world.record(format!("server {number} {what}"));
    }

    fn start(&mut self) {
        let number = Arc::new(Mutex::new(0));
        let name = format!("server {}", self.number);
        let view = View {
            world: self.site.world.clone(),
            name: name.clone(),
            process: Arc::clone(&number),
        };
        let process = Process::new(Rc::new(view));
        *number.lock().expect("no panic holds it") = process.number();
        self.site.ledger.knows(process.number(), name);
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let (drains, drained) = mpsc::unbounded_channel();
        let has_ended = Arc::new(AtomicBool::new(false));
        let entered = process.enter();
        runtime.spawn(serve(
            self.site.clone(),
            self.number,
            drained,
            Arc::clone(&has_ended),
        ));
        drop(entered);
        self.record("starts");
        self.life = Some(Life {
            process,
            runtime: Some(runtime),
            drains,
            is_draining: false,
            has_ended,
        });
    }

    /// Lets something happen to the process, sometimes.
    fn fail(&mut self) {
        let world = self.site.world.clone();
        let Some(life) = &mut self.life else { return };
        let process = life.process.number();
        if world.loses(450) {
            if world.below(2) == 0 {
                world.crash(process);
                self.record("crashes");
                self.end();
                return;
            }
            // Longer than its leases, and than the first pause of a client.
            let time = LEASE + world.up_to(8_000);
            self.stands_until = Some(world.elapsed() + time);
            self.site.ledger.interrupts(process);
            self.record(&format!("stands still for {} ms", time.as_millis()));
        } else if !life.is_draining && world.happens(1_200) {
            let at_most = world.up_to(400);
            life.is_draining = true;
            let _ = life.drains.send(at_most);
            self.site.ledger.interrupts(process);
            self.record(&format!("drains for {} ms", at_most.as_millis()));
        }
    }

    /// Ends the process: nothing of it is done any more.
    pub(crate) fn end(&mut self) {
        self.site.network.close(self.number);
        let Some(mut life) = self.life.take() else {
            return;
        };
        life.process.end();
        let entered = life.process.enter();
        drop(life.runtime.take());
        drop(entered);
        self.stands_until = None;
        self.starts = self.site.world.elapsed() + self.site.world.up_to(3_000);
    }
}

impl Life {
    /// Runs the process for a tick, or until it crashes.
    fn run(&self) {
        let Some(runtime) = &self.runtime else { return };
        let entered = self.process.enter();
        run_for_a_tick(runtime, |world| world.has_crashed(self.process.number()));
        drop(entered);
    }
}

thread_local! {
    static WORLD: std::cell::RefCell<Option<World>> = const { std::cell::RefCell::new(None) };
}

/// Sets the world of this thread.
pub(crate) fn set_world(world: Option<World>) {
    WORLD.set(world);
}

/// Runs what a runtime has to do in a tick.
pub(crate) fn run_for_a_tick(runtime: &Runtime, is_over: impl Fn(&World) -> bool) {
    let world = WORLD.with_borrow(Clone::clone).expect("a world");
    runtime.block_on(async {
        let mut tick = pin!(tokio::time::sleep(TICK));
        std::future::poll_fn(|cx| {
            world.enter(cx.waker());
            if is_over(&world) {
                return Poll::Ready(());
            }
            tick.as_mut().poll(cx)
        })
        .await;
    });
    world.leave();
}

/// Serves until it is told to drain, and has.
async fn serve(
    site: Site,
    number: usize,
    mut drained: mpsc::UnboundedReceiver<Duration>,
    has_ended: Arc<AtomicBool>,
) {
    let hook = Hook {
        world: site.world.clone(),
        ledger: Arc::clone(&site.ledger),
    };
    let server = Server::new()
        .file(&site.file)
        .lease(LEASE)
        .webhooks(hook, "a key that customers know")
        .graph("work", served(&site.world, &site.ledger));
    let serving = match server.start().await {
        Ok(serving) => serving,
        Err(error) => {
            return site
                .world
                .violate(format!("a server does not start: {error}"));
        }
    };
    let router = serving.router();
    let mut inbox = site.network.open(number);
    loop {
        tokio::select! {
            biased;
            at_most = drained.recv() => {
                let Some(at_most) = at_most else { return };
                let (serving, has_ended) = (serving.clone(), Arc::clone(&has_ended));
                tokio::spawn(async move {
                    serving.drain(at_most).await;
                    has_ended.store(true, Ordering::Relaxed);
                });
            }
            call = inbox.recv() => {
                let Some(call) = call else { return };
                tokio::spawn(answer(site.world.clone(), router.clone(), call));
            }
        }
    }
}
