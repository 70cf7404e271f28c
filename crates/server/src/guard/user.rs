//! Who sends a request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who sends a request, and whose resources the request may see.
///
/// Nodes read the user of their run in [`RunContext::user`](crate::RunContext::user).
///
/// # Examples
///
/// ```
/// use langgraph_server::User;
///
/// // Ada and Ben share their threads, because both belong to the same team.
/// let ada = User::new("ada").owner("team-1");
/// let ben = User::new("ben").owner("team-1");
/// assert_eq!(ada.identity(), "ada");
/// # let _ = ben;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct User {
    identity: String,
    owner: String,
    #[serde(default)]
    pub(crate) details: Value,
}

impl User {
    /// Creates a user who sees what they have created, and nothing else.
    pub fn new(identity: impl Into<String>) -> Self {
        let identity = identity.into();
        Self {
            owner: identity.clone(),
            identity,
            details: Value::Null,
        }
    }

    /// Sets the owner of what the user creates and sees: a team, a tenant. The default is the
    /// identity.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = owner.into();
        self
    }

    /// Adds what nodes shall know of the user. It is stored with the runs of the user, so it is no
    /// place for a secret.
    #[must_use]
    pub fn details(mut self, details: impl Into<Value>) -> Self {
        self.details = details.into();
        self
    }

    /// Returns who it is.
    #[doc(alias = "name")]
    #[doc(alias = "id")]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns one of the [details](Self::details); null without it.
    pub fn detail(&self, name: &str) -> &Value {
        &self.details[name]
    }

    /// Returns true if `roles`, a list in the [details](Self::details), has that role.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_server::User;
    /// use serde_json::json;
    ///
    /// let ada = User::new("ada").details(json!({"roles": ["admin"]}));
    /// assert!(ada.has_role("admin") && !ada.has_role("guest"));
    /// ```
    pub fn has_role(&self, role: &str) -> bool {
        let roles = self.details["roles"].as_array();
        roles.is_some_and(|roles| roles.iter().any(|one| one == role))
    }

    pub(crate) fn owned_by(&self) -> &str {
        &self.owner
    }
}
