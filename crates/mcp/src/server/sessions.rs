//! The sessions of clients that speak a protocol version before 2026-07-28.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};

/// Sessions in memory, in a limited number: the one that was idle for longest makes room for a new one.
pub(super) struct BoundedSessions {
    sessions: LocalSessionManager,
    last_used: Mutex<HashMap<SessionId, Instant>>,
    limit: usize,
}

impl BoundedSessions {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            sessions: LocalSessionManager::default(),
            last_used: Mutex::default(),
            limit,
        }
    }

    fn used(&self, id: &SessionId) {
        let mut last_used = self
            .last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = last_used.get_mut(id) {
            *at = Instant::now();
        }
    }

    fn remove(&self, id: &SessionId) {
        let mut last_used = self
            .last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        last_used.remove(id);
    }

    /// Adds a session; returns the one that it replaces.
    fn add(&self, id: &SessionId) -> Option<SessionId> {
        let mut last_used = self
            .last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let oldest = if last_used.len() < self.limit {
            None
        } else {
            let oldest = last_used.iter().min_by_key(|(_, at)| **at);
            oldest.map(|(id, _)| id.clone())
        };
        if let Some(oldest) = &oldest {
            last_used.remove(oldest);
        }
        last_used.insert(id.clone(), Instant::now());
        oldest
    }
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let created = self.sessions.create_session().await?;
        if let Some(oldest) = self.add(&created.0) {
            // It may have ended by itself.
            let _ = self.sessions.close_session(&oldest).await;
        }
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.sessions.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.used(id);
        self.sessions.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.remove(id);
        self.sessions.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.used(id);
        self.sessions.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.used(id);
        self.sessions.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.sessions.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.used(id);
        self.sessions.resume(id, last_event_id).await
    }
}
