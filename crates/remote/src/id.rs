//! The names of agents, requests and streams.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Creates an id from text.
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(id.into())
            }

            /// Generates a unique id: a UUID that sorts after earlier ones.
            pub fn generate() -> Self {
                Self(langgraph_core::new_id().to_string().into())
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<Arc<str>>> From<T> for $name {
            fn from(id: T) -> Self {
                Self(id.into())
            }
        }

        impl From<&Self> for $name {
            fn from(id: &Self) -> Self {
                id.clone()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), &*self.0)
            }
        }
    };
}

id! {
    /// The id of an agent: a stable name, the same wherever the agent runs. Cheap to clone.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_remote::AgentId;
    ///
    /// let mail = AgentId::new("mail");
    /// assert_eq!(mail, AgentId::from("mail"));
    /// assert_eq!(mail.to_string(), "mail");
    /// assert_eq!(serde_json::to_string(&mail)?, r#""mail""#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    AgentId
}

id! {
    /// The id of a request, which its replies carry. Cheap to clone.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_remote::RequestId;
    ///
    /// let (first, second) = (RequestId::generate(), RequestId::generate());
    /// assert!(first < second);
    /// ```
    RequestId
}

id! {
    /// The id of a conversation: requests with the same one, by the same agent, continue each other.
    /// A served graph runs them on one thread. Cheap to clone.
    ConversationId
}

id! {
    /// The id of a stream, which all its parts carry, from its start to its end. Cheap to clone.
    StreamId
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::*;

    #[test]
    fn ids_compare_hash_display_and_survive_json() {
        let a = AgentId::new("a");
        assert_eq!(a, AgentId::from("a".to_owned()));
        assert!(a < AgentId::new("b"));
        assert_eq!(format!("{a} {a:?}"), r#"a AgentId("a")"#);
        let set: HashSet<AgentId> = [a.clone(), "a".into(), "b".into()].into();
        assert!(set.len() == 2 && set.contains("a"));
        let json = serde_json::to_string(&a).unwrap();
        assert_eq!(json, r#""a""#);
        assert_eq!(serde_json::from_str::<AgentId>(&json).unwrap(), a);
        let id = RequestId::new("r-1");
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<RequestId>(&json).unwrap(), id);
    }

    #[test]
    fn generated_ids_are_unique_and_in_order() {
        let ids: Vec<RequestId> = (0..10_000).map(|_| RequestId::generate()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    }
}
