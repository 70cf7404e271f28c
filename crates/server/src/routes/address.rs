//! What is read of the address of a request. One that does not fit is refused as a body is.

use axum::extract::{FromRequestParts, Path as PathParts, Query as QueryParts};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The variable parts of the path.
pub(super) struct Path<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = PathParts::from_request_parts(parts, state).await;
        let PathParts(read) = read.map_err(|error| ApiError::invalid(error.body_text()))?;
        Ok(Self(read))
    }
}

/// The query.
pub(super) struct Query<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = QueryParts::from_request_parts(parts, state).await;
        let QueryParts(read) = read.map_err(|error| ApiError::invalid(error.body_text()))?;
        Ok(Self(read))
    }
}
