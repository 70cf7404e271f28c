//! The card of an agent.

use std::collections::HashMap;

use a2a::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentSkill,
    HttpAuthSecurityScheme, SecurityScheme, TRANSPORT_PROTOCOL_HTTP_JSON,
    TRANSPORT_PROTOCOL_JSONRPC,
};
use langgraph::graph::Topology;
use serde_json::Value;

use crate::server::A2aServer;
use crate::wire::EXTENSION;

/// The media types that an agent takes and gives.
const MODES: [&str; 2] = ["text/plain", "application/json"];

/// Makes the card from the options, the documentation of the graph and the schemas.
pub(crate) fn card(options: &A2aServer, url: &str) -> AgentCard {
    let modes = || MODES.map(str::to_owned).to_vec();
    let topology = options.agent.topology();
    let description = description(options, topology);
    let bearer = HttpAuthSecurityScheme {
        scheme: "Bearer".to_owned(),
        description: None,
        bearer_format: None,
    };
    let secured = options.tokens.is_some();
    let interface = |binding: &str| AgentInterface::new(url, binding);
    AgentCard {
        name: options
            .name
            .clone()
            .unwrap_or_else(|| options.id.to_string()),
        description: description.clone(),
        version: options.version.clone(),
        supported_interfaces: vec![
            interface(TRANSPORT_PROTOCOL_JSONRPC),
            interface(TRANSPORT_PROTOCOL_HTTP_JSON),
        ],
        capabilities: AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(true),
            extensions: Some(vec![extension(options)]),
            extended_agent_card: Some(false),
        },
        default_input_modes: modes(),
        default_output_modes: modes(),
        skills: vec![AgentSkill {
            id: options.id.to_string(),
            name: options
                .name
                .clone()
                .unwrap_or_else(|| options.id.to_string()),
            description,
            tags: tags(topology),
            examples: (!options.examples.is_empty()).then(|| options.examples.clone()),
            input_modes: None,
            output_modes: None,
            security_requirements: None,
        }],
        provider: None,
        documentation_url: None,
        icon_url: None,
        security_schemes: secured
            .then(|| HashMap::from([("bearer".to_owned(), SecurityScheme::HttpAuth(bearer))])),
        security_requirements: secured
            .then(|| vec![HashMap::from([("bearer".to_owned(), Vec::new())])]),
        signatures: None,
    }
}

/// Says what both ends of this crate agree on, and what a request and a reply look like.
fn extension(options: &A2aServer) -> AgentExtension {
    let schema = |name: &str, schema: &Option<Value>| {
        let schema = schema.clone()?;
        Some((name.to_owned(), schema))
    };
    let params: HashMap<String, Value> = schema("input_schema", &options.input_schema)
        .into_iter()
        .chain(schema("output_schema", &options.output_schema))
        .collect();
    AgentExtension {
        uri: EXTENSION.to_owned(),
        description: Some("Exact payloads, interrupts by key, time limits, budgets.".to_owned()),
        required: Some(false),
        params: (!params.is_empty()).then_some(params),
    }
}

/// What is said of the agent; without it, what its request's type says; then what its nodes do.
fn description(options: &A2aServer, topology: Option<&Topology>) -> String {
    let of_schema = || {
        let schema = options.input_schema.as_ref()?;
        Some(schema.get("description")?.as_str()?.to_owned())
    };
    let said = options.description.clone().or_else(of_schema);
    let nodes = topology.into_iter().flat_map(|topology| &topology.nodes);
    let nodes = nodes.filter_map(|node| {
        let docs = node.docs.as_deref()?.trim();
        let first = docs.split("\n\n").next().unwrap_or_default();
        let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
        (!first.is_empty()).then(|| format!("- {}: {first}", node.name))
    });
    let nodes: Vec<String> = nodes.collect();
    let parts = [said.unwrap_or_default(), nodes.join("\n")];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

fn tags(topology: Option<&Topology>) -> Vec<String> {
    let nodes = topology.into_iter().flat_map(|topology| &topology.nodes);
    let mut tags: Vec<String> = nodes.flat_map(|node| node.tags.clone()).collect();
    tags.sort();
    tags.dedup();
    if tags.is_empty() {
        tags.push("graph".to_owned());
    }
    tags
}
