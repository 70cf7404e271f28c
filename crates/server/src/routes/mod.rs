//! The routes of the interface.

mod assistants;
mod info;
mod query;
mod runs;
mod state;
mod store;
mod threads;

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderName, Method};
use axum::routing::{get, post};
use tower_http::cors::{AllowHeaders, AllowOrigin, AllowPrivateNetwork, CorsLayer, ExposeHeaders};

use crate::app::App;

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/ok", get(info::ok))
        .route("/info", get(info::info))
        .merge(assistants())
        .merge(threads())
        .merge(runs())
        .merge(store())
        .fallback(info::not_found)
        .with_state(app)
        .layer(cors())
}

fn assistants() -> Router<Arc<App>> {
    use assistants::{
        change, count, create, graph, latest, read, remove, schemas, search, subgraph, subgraphs,
        versions,
    };
    Router::new()
        .route("/assistants", post(create))
        .route("/assistants/search", post(search))
        .route("/assistants/count", post(count))
        .route("/assistants/{id}", get(read).patch(change).delete(remove))
        .route("/assistants/{id}/graph", get(graph))
        .route("/assistants/{id}/schemas", get(schemas))
        .route("/assistants/{id}/subgraphs", get(subgraphs))
        .route("/assistants/{id}/subgraphs/{namespace}", get(subgraph))
        .route("/assistants/{id}/versions", post(versions))
        .route("/assistants/{id}/latest", post(latest))
}

fn threads() -> Router<Arc<App>> {
    use threads::{change, copy, count, create, read, remove, search};
    Router::new()
        .route("/threads", post(create))
        .route("/threads/search", post(search))
        .route("/threads/count", post(count))
        .route("/threads/{thread}", get(read).patch(change).delete(remove))
        .route("/threads/{thread}/copy", post(copy))
        .route(
            "/threads/{thread}/state",
            get(state::read).post(state::update),
        )
        .route(
            "/threads/{thread}/state/checkpoint",
            post(state::at_checkpoint),
        )
        .route("/threads/{thread}/state/{checkpoint}", get(state::at))
        .route(
            "/threads/{thread}/history",
            get(state::history_query).post(state::history),
        )
}

fn runs() -> Router<Arc<App>> {
    use runs::{
        batch, cancel, cancel_many, create, create_stateless, join, join_stream,
        join_stream_stateless, list, read, remove, stream, stream_stateless, wait, wait_stateless,
    };
    Router::new()
        .route("/threads/{thread}/runs", get(list).post(create))
        .route("/threads/{thread}/runs/wait", post(wait))
        .route("/threads/{thread}/runs/stream", post(stream))
        .route("/threads/{thread}/runs/{run}", get(read).delete(remove))
        .route("/threads/{thread}/runs/{run}/join", get(join))
        .route("/threads/{thread}/runs/{run}/stream", get(join_stream))
        .route("/threads/{thread}/runs/{run}/cancel", post(cancel))
        .route("/runs", post(create_stateless))
        .route("/runs/wait", post(wait_stateless))
        .route("/runs/stream", post(stream_stateless))
        .route("/runs/batch", post(batch))
        .route("/runs/cancel", post(cancel_many))
        .route("/runs/{run}/stream", get(join_stream_stateless))
}

fn store() -> Router<Arc<App>> {
    use store::{namespaces, read, remove, search, write};
    Router::new()
        .route("/store/items", get(read).put(write).delete(remove))
        .route("/store/items/search", post(search))
        .route("/store/namespaces", post(namespaces))
}

/// Any page may call the server, and read the headers that clients need.
fn cors() -> CorsLayer {
    let exposed = [
        "content-location",
        "location",
        "x-pagination-total",
        "x-pagination-next",
    ];
    CorsLayer::new()
        .allow_origin(AllowOrigin::any())
        .allow_methods([
            Method::DELETE,
            Method::GET,
            Method::HEAD,
            Method::OPTIONS,
            Method::PATCH,
            Method::POST,
            Method::PUT,
        ])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(ExposeHeaders::list(exposed.map(HeaderName::from_static)))
        .allow_private_network(AllowPrivateNetwork::yes())
}
