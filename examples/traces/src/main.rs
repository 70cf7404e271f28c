//! An agent whose runs are traces: spans of the run, its nodes, the calls of its model and its tools, and
//! the checkpoints, with OpenTelemetry's names for generative AI. With `OTEL_EXPORTER_OTLP_ENDPOINT` (such
//! as `http://127.0.0.1:6006`) they go to a collector, over HTTP; otherwise they are printed.
//! Run it with `cargo run -p langgraph-traces-example`; with `-- --content` the spans hold what is said.

use std::error::Error;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{ToolCall, Usage};
use langgraph::policy::TraceNodes;
use langgraph_agent::{
    Budget, MessagesStateUpdate, Price, Prices, ScriptedModel, ToolError, TraceContent, Turn,
    react_agent, tool,
};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde_json::json;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt as _;

/// Looks up an order.
#[tool]
async fn find_order(
    /// The number on the receipt.
    number: u32,
) -> Result<String, ToolError> {
    match number {
        7 => Ok("one teapot, 40 euros".to_owned()),
        _ => Err(ToolError::model("there is no such order")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The program decides where spans go; the library only makes them.
    let provider = match std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT") {
        Ok(endpoint) if !endpoint.is_empty() => Some(exporting(&endpoint)?),
        _ => None,
    };
    let exported = provider
        .as_ref()
        .map(|provider| tracing_opentelemetry::layer().with_tracer(provider.tracer("langgraph")));
    let printed = provider.is_none().then(|| {
        let lines = tracing_subscriber::fmt::layer().with_span_events(FmtSpan::CLOSE);
        lines
            .with_ansi(false)
            .without_time()
            .with_writer(std::io::stdout)
    });
    let subscriber = tracing_subscriber::registry().with(exported).with(printed);
    tracing::subscriber::set_global_default(subscriber)?;

    answer(std::env::args().any(|argument| argument == "--content")).await?;

    if let Some(provider) = provider {
        // What is not sent yet goes out now.
        tokio::task::spawn_blocking(move || provider.shutdown()).await??;
        println!("sent");
    }
    Ok(())
}

fn exporting(endpoint: &str) -> Result<SdkTracerProvider, Box<dyn Error>> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .build()?;
    let resource = Resource::builder().with_service_name("refund-desk").build();
    let provider = SdkTracerProvider::builder().with_resource(resource);
    Ok(provider.with_batch_exporter(exporter).build())
}

/// One turn of an agent: two calls of a tool, one of which fails, and an answer.
async fn answer(content: bool) -> Result<(), Box<dyn Error>> {
    let call = |id: &str, number: u32| ToolCall::new(id, "find_order", json!({"number": number}));
    let model = ScriptedModel::new([
        Turn::tool_calls([call("c1", 7), call("c2", 8)]).with_usage(Usage::new(300, 40)),
        Turn::text("You bought a teapot.").with_usage(Usage::new(420, 12)),
    ]);
    let prices = Prices::new().others(Price::per_million(3.0, 15.0));
    let desk = react_agent(model.named("gpt-desk"), (find_order,))
        .name("refund_desk")
        .into_graph()?
        .middleware(TraceNodes)
        .compile()?
        .checkpointer(Arc::new(MemorySaver::new()))
        .resource(Arc::new(Budget::per_run().money(1.0, prices)));
    let desk = if content {
        desk.resource(Arc::new(TraceContent))
    } else {
        desk
    };
    let input = MessagesStateUpdate::user("What were orders 7 and 8?");
    let outcome = desk.run(input).thread("customer-1").await?;
    let answer = outcome.state().messages.last();
    println!("{}", answer.map(|answer| answer.text()).unwrap_or_default());
    Ok(())
}
