//! The requests for runs, which may come again.

use axum::extract::{FromRequest, Request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;

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
        let (mut run, key) = read::<RunRequest, S>(request, state).await?;
        run.request_key = key;
        Ok(Self(run))
    }
}

/// The body of a request for runs, each with a name that follows from that of the request.
pub(super) struct BatchBody(pub(super) Vec<RunRequest>);

impl<S: Send + Sync> FromRequest<S> for BatchBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (mut runs, key) = read::<Vec<RunRequest>, S>(request, state).await?;
        for (number, run) in runs.iter_mut().enumerate() {
            run.request_key = key.clone().map(|key| RequestKey {
                name: match number {
                    // Another request with the key is refused for this one.
                    0 => key.name,
                    // No name of a client holds this character.
                    _ => format!("{}\u{1f}{number}", key.name),
                },
                ..key
            });
        }
        Ok(Self(runs))
    }
}

/// Reads a body, and the name of its request.
async fn read<T: DeserializeOwned, S: Send + Sync>(
    request: Request,
    state: &S,
) -> ApiResult<(T, Option<RequestKey>)> {
    let name = name_of(&request)?;
    let path = request.uri().path().to_owned();
    let bytes = bytes(request, state).await?;
    let body = parsed(&bytes)?;
    let key = name.map(|name| RequestKey {
        digest: digest(&path, &bytes),
        name,
    });
    Ok((body, key))
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
