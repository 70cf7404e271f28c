//! Resources of a server.

use std::fmt;

/// A document that a server offers; [`McpClient::read`](crate::McpClient::read) reads it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// Its address, for the server.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// The MIME type, such as `text/plain`, if the server knows it.
    pub mime_type: Option<String>,
}

impl From<rmcp::model::Resource> for Resource {
    fn from(resource: rmcp::model::Resource) -> Self {
        Self {
            uri: resource.uri,
            name: resource.name,
            description: resource.description.or(resource.title),
            mime_type: resource.mime_type,
        }
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resource({})", self.uri)
    }
}
