//! The request for a run, which may come again.

use axum::extract::{FromRequest, Request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::query::{bytes, parsed};
use crate::error::{ApiError, ApiResult};
use crate::queue::RequestKey;
use crate::runs::RunRequest;

/// The longest name of a request.
const LONGEST: usize = 255;

/// The body of a request for a run, with the name of the request: its `Idempotency-Key`.
pub(super) struct RunBody(pub(super) RunRequest);

impl<S: Send + Sync> FromRequest<S> for RunBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let name = name_of(&request)?;
        let path = request.uri().path().to_owned();
        let bytes = bytes(request, state).await?;
        let mut run: RunRequest = parsed(&bytes)?;
        run.request_key = name.map(|name| RequestKey {
            digest: digest(&path, &bytes),
            name,
        });
        Ok(Self(run))
    }
}

fn name_of(request: &Request) -> ApiResult<Option<String>> {
    let Some(name) = request.headers().get("idempotency-key") else {
        return Ok(None);
    };
    match name.to_str() {
        Ok(name) if !name.is_empty() && name.len() <= LONGEST => Ok(Some(name.to_owned())),
        _ => Err(ApiError::invalid(format!(
            "Idempotency-Key has 1 to {LONGEST} characters of ASCII"
        ))),
    }
}

/// Returns a digest of what the request asks for.
fn digest(path: &str, body: &[u8]) -> String {
    let mut hash = hmac_sha256::Hash::new();
    hash.update(path.as_bytes());
    hash.update([0]);
    hash.update(body);
    STANDARD.encode(hash.finalize())
}
