//! The Studio: a page that is part of the program. Its sources are in `studio/src`.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// The page runs its own script and talks to its own server only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'";

pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let page = |headers| {
        let body = include_bytes!("../studio/dist/index.html");
        file(&headers, "text/html; charset=utf-8", body)
    };
    let script = |headers| {
        let body = include_bytes!("../studio/dist/studio.js");
        file(&headers, "text/javascript; charset=utf-8", body)
    };
    let style = |headers| {
        let body = include_bytes!("../studio/dist/studio.css");
        file(&headers, "text/css; charset=utf-8", body)
    };
    Router::new()
        .route(
            "/",
            get(move |headers: HeaderMap| async move { page(headers) }),
        )
        .route(
            "/studio/studio.js",
            get(move |headers: HeaderMap| async move { script(headers) }),
        )
        .route(
            "/studio/studio.css",
            get(move |headers: HeaderMap| async move { style(headers) }),
        )
}

fn file(request: &HeaderMap, kind: &'static str, body: &'static [u8]) -> Response {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let known = request.get(header::IF_NONE_MATCH);
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    (headers, body).into_response()
}
