//! A server, on the file that all servers share.

use langgraph_server::Server;

use crate::graph::{LEASE, served};
use crate::hook::Hook;
use crate::host::{Drains, Program, Role, Running};
use crate::network::answer;
use crate::site::Site;

pub(crate) struct ServerProgram {
    pub(crate) site: Site,
    pub(crate) number: usize,
}

/// Returns the name of a server.
pub(crate) fn server_name(number: usize) -> String {
    format!("server {number}")
}

impl Program for ServerProgram {
    fn role(&self) -> Role {
        Role::Server
    }

    fn run(&self, drains: Drains) -> Running {
        Box::pin(serve(self.site.clone(), server_name(self.number), drains))
    }
}

/// Serves until it is told to drain, and has.
async fn serve(site: Site, name: String, mut drains: Drains) {
    let hook = Hook {
        world: site.world.clone(),
        ledger: site.ledger.clone(),
    };
    let server = Server::new()
        .file(&site.file)
        .lease(LEASE)
        .webhooks(hook, "a key that customers know")
        .graph("work", served(&site, &name));
    let serving = match server.start().await {
        Ok(serving) => serving,
        Err(error) if site.world.has_failed() => {
            let text = format!("{name} does not start: {error}");
            return site.world.record(text);
        }
        Err(error) => {
            let text = format!("a server does not start: {error}");
            site.world.violate(text);
            return std::future::pending().await;
        }
    };
    let router = serving.router();
    let mut inbox = site.network.calls.open(&name);
    let mut draining = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            biased;
            Some(_) = draining.join_next() => return,
            at_most = drains.recv() => {
                let Some(at_most) = at_most else { return };
                let serving = serving.clone();
                draining.spawn(async move { serving.drain(at_most).await; });
            }
            call = inbox.recv() => {
                let Some(call) = call else { return };
                tokio::spawn(answer(site.world.clone(), router.clone(), call));
            }
        }
    }
}
