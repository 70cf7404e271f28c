//! A host: one process of a program after the other.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::environment::Process;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use crate::graph::LEASE;
use crate::site::Site;
use crate::tick::run_for_a_tick;
use crate::world::{View, World};

/// What a process does.
pub(crate) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How long a process may take to end, once it has to.
pub(crate) type Drains = mpsc::UnboundedReceiver<Duration>;

/// What the processes of a host run.
pub(crate) trait Program {
    fn role(&self) -> Role;

    /// Runs it, until it has ended by itself.
    fn run(&self, drains: Drains) -> Running;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Server,
    Relay,
    Agent,
    Worker,
    Clerk,
}

impl Role {
    /// Draws whether a process is lost now. A server is lost a few times in a seed: each costs a run an attempt.
    fn is_lost(self, world: &World) -> bool {
        match self {
            Self::Server => world.loses(450),
            Self::Clerk => world.happens(400),
            _ => world.happens(1_500),
        }
    }
}

/// A host.
pub(crate) struct Host {
    site: Site,
    /// Its name in the network, and in the story.
    name: String,
    program: Box<dyn Program>,
    life: Option<Life>,
    /// When the next process starts.
    starts: Duration,
    /// Until when the process stands still.
    stands_until: Option<Duration>,
    /// True if it goes on when another process has taken its work.
    wakes: bool,
    /// Until when it is parted from the other hosts.
    parted_until: Option<Duration>,
}

struct Life {
    process: Process,
    runtime: Option<Runtime>,
    drains: mpsc::UnboundedSender<Duration>,
    is_draining: bool,
    has_ended: Arc<AtomicBool>,
}

impl Host {
    pub(crate) fn new(site: &Site, name: String, program: impl Program + 'static) -> Self {
        let starts = site.world.up_to(2_000);
        Self {
            site: site.clone(),
            name,
            program: Box::new(program),
            life: None,
            starts,
            stands_until: None,
            wakes: false,
            parted_until: None,
        }
    }

    /// Runs for a tick.
    pub(crate) fn tick(&mut self) {
        let now = self.site.world.elapsed();
        if self.life.is_none() && now >= self.starts {
            self.start();
        }
        self.rejoin();
        self.wake();
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
        let process = life.process.number();
        if world.has_crashed(process) {
            self.end();
        } else if world.has_just_stopped(process) {
            self.stand_still(process);
        } else if life.has_ended.load(Ordering::Relaxed) {
            self.record("has ended");
            self.end();
        }
    }

    /// Lets a process that stands still go on at a bad moment: another one has just taken its work.
    fn wake(&mut self) {
        let (Some(until), Some(life), true) = (self.stands_until, &self.life, self.wakes) else {
            return;
        };
        if self.site.ledger.is_superseded(life.process.number()) {
            let world = &self.site.world;
            let soon = world.elapsed() + world.up_to(60);
            self.stands_until = Some(until.min(soon));
            self.wakes = false;
            // Then it does not learn at once that it has lost its work.
            if world.happens(3) {
                world.let_database_fail();
            }
        }
    }

    fn record(&self, what: &str) {
        let name = &self.name;
        self.site.world.record(format!("{name} {what}"));
    }

    fn start(&mut self) {
        let number = Arc::new(Mutex::new(0));
        let view = View {
            world: self.site.world.clone(),
            name: self.name.as_str().into(),
            role: Some(self.program.role()),
            process: Arc::clone(&number),
        };
        let process = Process::new(Rc::new(view));
        *number.lock().expect("no panic holds it") = process.number();
        let (ledger, role) = (&self.site.ledger, self.program.role());
        ledger.knows(process.number(), self.name.clone(), role);
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let (drains, drained) = mpsc::unbounded_channel();
        let has_ended = Arc::new(AtomicBool::new(false));
        let entered = process.enter();
        let (runs, ends) = (self.program.run(drained), Arc::clone(&has_ended));
        runtime.spawn(async move {
            runs.await;
            ends.store(true, Ordering::Relaxed);
        });
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
        let (process, role) = (life.process.number(), self.program.role());
        let is_calm = self.site.is_calm;
        if !(is_calm && role == Role::Worker) && role.is_lost(&world) {
            if world.is_crash() {
                world.crash(process);
                self.record("crashes");
                self.end();
            } else {
                self.stand_still(process);
            }
        } else if role == Role::Server && !life.is_draining && world.happens(1_200) {
            let at_most = world.up_to(400);
            life.is_draining = true;
            let _ = life.drains.send(at_most);
            self.site.ledger.interrupts(process);
            self.record(&format!("drains for {} ms", at_most.as_millis()));
        } else if self.may_be_parted(role) && world.happens(3_000) {
            self.part();
        }
    }

    /// Lets the process do nothing for longer than leases, heartbeats and the first pause of a client; or until about
    /// when its work is taken.
    fn stand_still(&mut self, process: u64) {
        let world = &self.site.world;
        let time = LEASE + world.up_to(if world.below(3) == 0 { 1_500 } else { 8_000 });
        self.wakes = world.is_delicate() || world.below(2) == 0;
        self.stands_until = Some(world.elapsed() + time);
        self.site.ledger.interrupts(process);
        self.record(&format!("stands still for {} ms", time.as_millis()));
    }

    fn may_be_parted(&self, role: Role) -> bool {
        self.site.has_hosts_behind() && !self.site.is_calm && role != Role::Clerk
    }

    /// Parts the host from the others for a while, also for longer than they wait.
    fn part(&mut self) {
        let world = &self.site.world;
        if self.parted_until.is_some() {
            return;
        }
        let time = world.up_to(9_000);
        let until = world.elapsed() + time;
        self.parted_until = Some(until);
        self.site.network.part(&self.name, until);
        self.disturb();
        self.record(&format!("is parted for {} ms", time.as_millis()));
    }

    fn rejoin(&mut self) {
        if self
            .parted_until
            .is_some_and(|until| self.site.world.elapsed() >= until)
        {
            self.parted_until = None;
            self.site.network.rejoin(&self.name);
            self.disturb();
            self.record("is no longer parted");
        }
    }

    /// Notes that what was sent to or by the process may be done by another one.
    fn disturb(&self) {
        if let Some(life) = &self.life {
            self.site.ledger.disturbs(life.process.number());
        }
    }

    /// Ends the process: nothing of it is done any more.
    pub(crate) fn end(&mut self) {
        self.disturb();
        self.site.network.close(&self.name);
        let Some(mut life) = self.life.take() else {
            return;
        };
        life.process.end();
        let entered = life.process.enter();
        drop(life.runtime.take());
        drop(entered);
        (self.stands_until, self.parted_until) = (None, None);
        self.starts = self.site.world.elapsed() + self.site.world.up_to(3_000);
    }
}

impl Life {
    /// Runs the process for a tick, or until it crashes.
    fn run(&self) {
        let Some(runtime) = &self.runtime else { return };
        let entered = self.process.enter();
        run_for_a_tick(runtime, |world| world.has_ended_tick(self.process.number()));
        drop(entered);
    }
}
