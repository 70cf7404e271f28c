//! Tokens that users send.

use std::fmt;

use async_trait::async_trait;

use super::{Authenticate, Caller, Refusal, User};

/// Knows users by a token, in `Authorization: Bearer …` or in `X-Api-Key`.
///
/// LangGraph's clients send `X-Api-Key` when they are given an `api_key`.
///
/// # Examples
///
/// ```
/// use langgraph_server::{BearerTokens, Server, User};
///
/// let tokens = BearerTokens::new()
///     .token("a-long-random-text", User::new("ada"))
///     .token("another-one", User::new("ben"));
/// let server = Server::new().authenticate(tokens);
/// # let _ = server;
/// ```
#[derive(Default)]
pub struct BearerTokens(Vec<(String, User)>);

impl BearerTokens {
    /// Creates a set without tokens, which refuses everyone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the token of a user. An empty token is never accepted.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>, user: User) -> Self {
        self.0.push((token.into(), user));
        self
    }
}

#[async_trait]
impl Authenticate for BearerTokens {
    async fn authenticate(&self, caller: Caller<'_>) -> Result<User, Refusal> {
        let bearer = caller.header("authorization").and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let given = bearer.or_else(|| caller.header("x-api-key"));
        let given = given.filter(|token| !token.is_empty());
        let given = given.ok_or(Refusal::Unauthorized)?.as_bytes();
        // Each token is compared, and each in full: the time reveals nothing.
        let mut found = None;
        for (token, user) in &self.0 {
            if same(token.as_bytes(), given) {
                found = Some(user);
            }
        }
        found.cloned().ok_or(Refusal::Unauthorized)
    }
}

fn same(one: &[u8], other: &[u8]) -> bool {
    let differences = one
        .iter()
        .zip(other)
        .fold(0, |so_far, (a, b)| so_far | (a ^ b));
    std::hint::black_box(differences) == 0 && one.len() == other.len()
}

/// Shows no token.
impl fmt::Debug for BearerTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let users = self.0.iter().map(|(_, user)| user.identity());
        f.debug_set().entries(users).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_not_shown() {
        let tokens = BearerTokens::new().token("secret", User::new("ada"));
        assert_eq!(format!("{tokens:?}"), "{\"ada\"}");
    }

    #[test]
    fn only_the_whole_token_is_the_same() {
        assert!(same(b"abc", b"abc"));
        for other in ["", "ab", "abd", "abcd"] {
            assert!(!same(b"abc", other.as_bytes()), "{other}");
        }
    }
}
