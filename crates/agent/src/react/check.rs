//! What middleware and an agent have to agree on.

use std::collections::BTreeMap;

use super::build_error::AgentBuildError;
use crate::middleware::{Chain, has};
use crate::{AgentState, Hook, Tool, Tools};

/// The hooks that are nodes.
const NODES: [Hook; 4] = [
    Hook::BeforeAgent,
    Hook::BeforeModel,
    Hook::AfterModel,
    Hook::AfterAgent,
];

/// Adds the tools of the middleware, and checks it.
pub(super) fn checked<S: AgentState>(
    chain: &Chain,
    mut tools: Tools,
) -> Result<Tools, AgentBuildError> {
    fields::<S>(chain)?;
    names(chain)?;
    for one in chain.iter() {
        for tool in &one.tools() {
            if tools.get(tool.name()).is_some() {
                return Err(AgentBuildError::TwoTools {
                    middleware: one.name().to_owned(),
                    tool: tool.name().to_owned(),
                });
            }
            tools.insert(std::sync::Arc::clone(tool));
        }
    }
    for one in chain.iter() {
        one.check(&tools).map_err(|reason| AgentBuildError::Unfit {
            middleware: one.name().to_owned(),
            reason,
        })?;
    }
    Ok(tools)
}

fn fields<S: AgentState>(chain: &Chain) -> Result<(), AgentBuildError> {
    let has_room = S::default().middleware_fields().is_some();
    let mut owners = BTreeMap::new();
    for one in chain.iter() {
        for field in one.fields() {
            if !has_room {
                return Err(AgentBuildError::NoRoom {
                    middleware: one.name().to_owned(),
                    field: field.to_owned(),
                    state: std::any::type_name::<S>(),
                });
            }
            if let Some(first) = owners.insert(field, one.name()) {
                return Err(AgentBuildError::TwoFields {
                    field: field.to_owned(),
                    first: first.to_owned(),
                    second: one.name().to_owned(),
                });
            }
        }
    }
    Ok(())
}

fn names(chain: &Chain) -> Result<(), AgentBuildError> {
    for hook in NODES {
        let mut names: Vec<&str> = Vec::new();
        for one in chain.iter().filter(|one| has(&***one, hook)) {
            if names.contains(&one.name()) {
                return Err(AgentBuildError::TwoNames {
                    name: one.name().to_owned(),
                    hook,
                });
            }
            names.push(one.name());
        }
    }
    Ok(())
}
