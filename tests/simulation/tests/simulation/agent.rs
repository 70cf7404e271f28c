//! An agent behind the relay, which servers ask.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use langgraph_remote::{AgentEnvelope, AgentHandler, ReplyStream, RequestId, StreamContent};

use crate::host::{Drains, Program, Role, Running};
use crate::relay::to_relay;
use crate::site::Site;
use crate::world::World;

/// The agent, which appraises orders.
pub(crate) const APPRAISER: &str = "appraiser";

pub(crate) struct AgentProgram {
    pub(crate) site: Site,
}

impl Program for AgentProgram {
    fn role(&self) -> Role {
        Role::Agent
    }

    fn run(&self, _: Drains) -> Running {
        let streams = self.site.network.streams.clone();
        let appraiser = Appraiser {
            world: self.site.world.clone(),
            begun: Arc::default(),
        };
        Box::pin(async move {
            loop {
                let _ = to_relay(&streams, APPRAISER).serve(appraiser.clone()).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        })
    }
}

/// Appraises an order, in words.
#[derive(Clone)]
struct Appraiser {
    world: World,
    /// The requests that this process has begun.
    begun: Arc<Mutex<BTreeSet<RequestId>>>,
}

impl AgentHandler for Appraiser {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        let world = self.world.clone();
        let order: String = request.payload().unwrap_or_default();
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = &request.request_id
            && !begun.insert(id.clone())
        {
            world.violate(format!(
                "the appraisal of {order} is begun twice for one request"
            ));
        }
        drop(begun);
        world.record(format!("{order} is appraised"));
        ReplyStream::produce(&request, |replies| async move {
            let stream = replies.start(StreamContent::Text.metadata()).await;
            for word in [&order, "/", "appraised"] {
                tokio::time::sleep(world.up_to(60)).await;
                replies.chunk(&stream, word).await?;
            }
            replies.end(stream).await;
            Ok(())
        })
    }
}
