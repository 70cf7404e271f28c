//! The routes of the interface.

mod a2a;
mod address;
mod ag_ui;
mod assistant_versions;
mod assistants;
mod cancel;
mod crons;
mod encoded;
mod export;
mod info;
mod json_rpc;
mod mcp;
mod metrics;
mod open_stream;
mod openai;
mod place;
mod protocol;
mod query;
mod run_body;
mod runs;
mod search;
mod socket;
mod state;
mod storage;
mod store;
mod threads;
mod ui;
mod waiting;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::{HeaderName, Method};
use axum::routing::{MethodFilter, MethodRouter};
use axum::{Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowHeaders, AllowOrigin, AllowPrivateNetwork, CorsLayer, ExposeHeaders};
use tower_http::timeout::RequestBodyTimeoutLayer;

use crate::app::App;
use crate::guard::{Sources, authenticate, authorize, check_source};

/// The routes, and what they are: method and path.
#[derive(Default)]
struct Routes {
    router: Router<Arc<App>>,
    table: Vec<(Method, &'static str)>,
}

impl Routes {
    /// Adds the handlers of a path.
    fn at<const N: usize>(
        mut self,
        path: &'static str,
        handlers: [(Method, MethodRouter<Arc<App>>); N],
    ) -> Self {
        for (method, handler) in handlers {
            self.router = self.router.route(path, handler);
            self.table.push((method, path));
        }
        self
    }
}

fn on<H: Handler<T, Arc<App>>, T: 'static>(
    method: Method,
    handler: H,
) -> (Method, MethodRouter<Arc<App>>) {
    let filter = MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::GET);
    (method, axum::routing::on(filter, handler))
}

fn get<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> (Method, MethodRouter<Arc<App>>) {
    on(Method::GET, handler)
}

fn post<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> (Method, MethodRouter<Arc<App>>) {
    on(Method::POST, handler)
}

fn put<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> (Method, MethodRouter<Arc<App>>) {
    on(Method::PUT, handler)
}

fn patch<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> (Method, MethodRouter<Arc<App>>) {
    on(Method::PATCH, handler)
}

fn delete<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> (Method, MethodRouter<Arc<App>>) {
    on(Method::DELETE, handler)
}

fn routes() -> Routes {
    let routes = Routes::default()
        .at("/ok", [get(info::ok)])
        .at("/ready", [get(info::ready)])
        .at("/info", [get(info::info)])
        .at("/metrics", [get(metrics::read)])
        .at("/openapi.json", [get(info::openapi)])
        .at("/docs", [get(info::docs)]);
    protocol(others(store(crons(runs(threads(assistants(routes)))))))
}

/// Returns the method and the path of every route.
pub(crate) fn table() -> Vec<(Method, &'static str)> {
    routes().table
}

pub(crate) fn router(app: Arc<App>) -> Router {
    let body = DefaultBodyLimit::max(app.limits.body);
    // Also for programs that serve the routes with a listener of their own.
    let body_timeout = RequestBodyTimeoutLayer::new(app.limits.client_timeout);
    let source = middleware::from_fn_with_state(Arc::clone(&app), check_source);
    let cors = cors(app.sources.clone());
    let permission = middleware::from_fn_with_state(Arc::clone(&app), authorize);
    let guard = middleware::from_fn_with_state(Arc::clone(&app), authenticate);
    let router = routes()
        .router
        .fallback(info::not_found)
        .method_not_allowed_fallback(info::not_allowed)
        .with_state(app)
        .layer(body)
        .layer(permission)
        .layer(body_timeout)
        .layer(guard);
    // The page is the same for everyone; what it asks for is guarded.
    #[cfg(feature = "studio")]
    let router = router.merge(crate::studio::routes());
    router
        .layer(CatchPanicLayer::custom(info::broken))
        .layer(source)
        .layer(cors)
}

fn assistants(routes: Routes) -> Routes {
    use assistant_versions::{latest, versions};
    use assistants::{
        change, count, create, graph, read, remove, schemas, search, subgraph, subgraphs,
    };
    routes
        .at("/assistants", [post(create)])
        .at("/assistants/search", [post(search)])
        .at("/assistants/count", [post(count)])
        .at(
            "/assistants/{assistant}",
            [get(read), patch(change), delete(remove)],
        )
        .at("/assistants/{assistant}/graph", [get(graph)])
        .at("/assistants/{assistant}/schemas", [get(schemas)])
        .at("/assistants/{assistant}/subgraphs", [get(subgraphs)])
        .at(
            "/assistants/{assistant}/subgraphs/{namespace}",
            [get(subgraph)],
        )
        .at("/assistants/{assistant}/versions", [post(versions)])
        .at("/assistants/{assistant}/latest", [post(latest)])
}

fn threads(routes: Routes) -> Routes {
    use threads::{change, copy, count, create, prune, read, remove, search};
    routes
        .at("/threads", [post(create)])
        .at("/threads/search", [post(search)])
        .at("/threads/count", [post(count)])
        .at("/threads/prune", [post(prune)])
        .at(
            "/threads/{thread}",
            [get(read), patch(change), delete(remove)],
        )
        .at("/threads/{thread}/copy", [post(copy)])
        .at("/threads/{thread}/export", [post(export::export)])
        .at("/threads/{thread}/storage", [get(storage::read)])
        .at(
            "/threads/{thread}/state",
            [get(state::read), post(state::update), patch(change)],
        )
        .at(
            "/threads/{thread}/state/checkpoint",
            [post(state::at_checkpoint)],
        )
        .at("/threads/{thread}/state/{checkpoint}", [get(state::at)])
        .at(
            "/threads/{thread}/history",
            [get(state::history_query), post(state::history)],
        )
}

fn runs(routes: Routes) -> Routes {
    use cancel::{cancel, cancel_many};
    use runs::{
        batch, create, create_stateless, join, join_stream, join_stream_stateless, list, read,
        remove, stream, stream_stateless, wait, wait_stateless,
    };
    routes
        .at("/threads/{thread}/runs", [get(list), post(create)])
        .at("/threads/{thread}/runs/wait", [post(wait)])
        .at("/threads/{thread}/runs/stream", [post(stream)])
        .at("/threads/{thread}/runs/{run}", [get(read), delete(remove)])
        .at("/threads/{thread}/runs/{run}/join", [get(join)])
        .at("/threads/{thread}/runs/{run}/stream", [get(join_stream)])
        .at("/threads/{thread}/runs/{run}/cancel", [post(cancel)])
        .at("/runs", [post(create_stateless)])
        .at("/runs/wait", [post(wait_stateless)])
        .at("/runs/stream", [post(stream_stateless)])
        .at("/runs/batch", [post(batch)])
        .at("/runs/cancel", [post(cancel_many)])
        .at("/runs/{run}/stream", [get(join_stream_stateless)])
}

fn protocol(routes: Routes) -> Routes {
    use protocol::{commands, events, thread_stream};
    routes
        .at("/threads/{thread}/commands", [post(commands)])
        .at(
            "/threads/{thread}/stream/events",
            [get(socket::events), post(events)],
        )
        .at("/threads/{thread}/stream", [get(thread_stream)])
}

fn crons(routes: Routes) -> Routes {
    use crons::{change, count, create, create_on_thread, read, remove, search};
    routes
        .at("/runs/crons", [post(create)])
        .at("/runs/crons/search", [post(search)])
        .at("/runs/crons/count", [post(count)])
        .at(
            "/runs/crons/{cron}",
            [get(read), patch(change), delete(remove)],
        )
        .at("/threads/{thread}/runs/crons", [post(create_on_thread)])
}

fn store(routes: Routes) -> Routes {
    use store::{namespaces, read, remove, search, write};
    routes
        .at("/store/items", [get(read), put(write), delete(remove)])
        .at("/store/items/search", [post(search)])
        .at("/store/namespaces", [post(namespaces)])
}

/// Other ways in.
fn others(routes: Routes) -> Routes {
    routes
        .at("/ag-ui/{assistant}", [post(ag_ui::run)])
        .at(
            "/mcp/",
            [get(mcp::listen), post(mcp::call), delete(mcp::end)],
        )
        .at(
            "/mcp",
            [get(mcp::listen), post(mcp::call), delete(mcp::end)],
        )
        .at("/a2a/{assistant}", [post(a2a::call)])
        .at(
            "/a2a/{assistant}/.well-known/agent-card.json",
            [get(a2a::card_of)],
        )
        .at("/.well-known/agent-card.json", [get(a2a::card)])
        .at("/v1/chat/completions", [post(openai::complete)])
        .at("/v1/models", [get(openai::list)])
        .at("/v1/models/{model}", [get(openai::read)])
        .at("/ui/{assistant}", [post(ui::load)])
        .at("/ui/{assistant}/{file}", [get(ui::file)])
}

/// Pages of allowed origins may call the server, and read the headers that clients need.
fn cors(sources: Sources) -> CorsLayer {
    let origins = if sources.any_origin {
        AllowOrigin::any()
    } else {
        AllowOrigin::predicate(move |origin, _| sources.allows_origin(origin))
    };
    let exposed = [
        "content-location",
        "location",
        "x-pagination-total",
        "x-pagination-next",
    ];
    CorsLayer::new()
        .allow_origin(origins)
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
