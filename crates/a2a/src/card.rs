//! The card of an agent.

use std::collections::HashMap;

use a2a::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentSkill,
    HttpAuthSecurityScheme, SecurityScheme, TRANSPORT_PROTOCOL_HTTP_JSON,
    TRANSPORT_PROTOCOL_JSONRPC,
};
use langgraph::graph::Topology;
use langgraph_remote::AgentId;
use serde_json::Value;

use crate::wire::EXTENSION;

/// The media types of requests and replies.
const MODES: [&str; 2] = ["text/plain", "application/json"];

/// The description of an agent.
pub(crate) struct About {
    pub(crate) id: AgentId,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) version: String,
    pub(crate) examples: Vec<String>,
    pub(crate) input_schema: Option<Value>,
    pub(crate) output_schema: Option<Value>,
}

impl About {
    pub(crate) fn new(id: AgentId) -> Self {
        Self {
            id,
            name: None,
            description: None,
            version: "1.0.0".to_owned(),
            examples: Vec::new(),
            input_schema: None,
            output_schema: None,
        }
    }
}

/// Makes the card from the description, the documentation of the graph and the schemas.
pub(crate) fn card(
    about: &About,
    topology: Option<&Topology>,
    secured: bool,
    url: &str,
) -> AgentCard {
    let modes = || MODES.map(str::to_owned).to_vec();
    let description = description(about, topology);
    let bearer = HttpAuthSecurityScheme {
        scheme: "Bearer".to_owned(),
        description: None,
        bearer_format: None,
    };
    let interface = |binding: &str| AgentInterface::new(url, binding);
    AgentCard {
        name: about.name.clone().unwrap_or_else(|| about.id.to_string()),
        description: description.clone(),
        version: about.version.clone(),
        supported_interfaces: vec![
            interface(TRANSPORT_PROTOCOL_JSONRPC),
            interface(TRANSPORT_PROTOCOL_HTTP_JSON),
        ],
        capabilities: AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(true),
            extensions: Some(vec![extension(about)]),
            extended_agent_card: Some(false),
        },
        default_input_modes: modes(),
        default_output_modes: modes(),
        skills: vec![AgentSkill {
            id: about.id.to_string(),
            name: about.name.clone().unwrap_or_else(|| about.id.to_string()),
            description,
            tags: tags(topology),
            examples: (!about.examples.is_empty()).then(|| about.examples.clone()),
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

/// Describes the extension of this crate, and the schemas of requests and replies.
fn extension(about: &About) -> AgentExtension {
    let schema = |name: &str, schema: &Option<Value>| {
        let schema = schema.clone()?;
        Some((name.to_owned(), schema))
    };
    let params: HashMap<String, Value> = schema("input_schema", &about.input_schema)
        .into_iter()
        .chain(schema("output_schema", &about.output_schema))
        .collect();
    AgentExtension {
        uri: EXTENSION.to_owned(),
        description: Some("Exact payloads, interrupts by key, time limits, budgets.".to_owned()),
        required: Some(false),
        params: (!params.is_empty()).then_some(params),
    }
}

/// Returns the description of the agent, or else of its request's type; then those of its nodes.
fn description(about: &About, topology: Option<&Topology>) -> String {
    let of_schema = || {
        let schema = about.input_schema.as_ref()?;
        Some(schema.get("description")?.as_str()?.to_owned())
    };
    let own = about.description.clone().or_else(of_schema);
    let nodes = topology.into_iter().flat_map(|topology| &topology.nodes);
    let nodes = nodes.filter_map(|node| {
        let docs = node.docs.as_deref()?.trim();
        let first = docs.split("\n\n").next().unwrap_or_default();
        let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
        (!first.is_empty()).then(|| format!("- {}: {first}", node.name))
    });
    let nodes: Vec<String> = nodes.collect();
    let parts = [own.unwrap_or_default(), nodes.join("\n")];
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
