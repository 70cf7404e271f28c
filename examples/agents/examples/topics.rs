//! Sub-agents that run in parallel, one per topic, and a terminal with a line for each: the task that an event's
//! sub-graph belongs to tells them apart, by the item's index in the map. Without a terminal, a line per step.
//! Run it with `cargo run --example topics -- tea cups tea`.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use langgraph::prelude::*;
use langgraph::stream::StreamOptions;

#[derive(State, Clone, Debug, Default)]
struct Report {
    topics: Vec<String>,
    #[reducer(append)]
    parts: Vec<String>,
}

/// The state of a sub-agent.
#[derive(State, Clone, Debug, Default)]
struct Research {
    topic: String,
    sources: usize,
    text: String,
}

#[node]
async fn search(research: &Research) -> ResearchUpdate {
    // Stands for a search engine.
    tokio::time::sleep(Duration::from_millis(20)).await;
    ResearchUpdate::default().sources(research.topic.len())
}

#[node]
async fn read(research: &Research, cx: &Context) -> Result<(), NodeError> {
    for source in 1..=research.sources {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cx.emit(format!("source {source} of {}", research.sources))
            .await?;
    }
    Ok(())
}

#[node]
async fn write(research: &Research) -> ResearchUpdate {
    let Research { topic, sources, .. } = research;
    ResearchUpdate::default().text(format!("{topic}, from {sources} sources"))
}

/// A worker that runs a sub-agent for its topic.
struct Researcher(CompiledStateGraph<Research>);

#[node]
impl Researcher {
    async fn run(
        &self,
        topic: String,
        _: &Report,
        cx: &Context,
    ) -> Result<ReportUpdate, NodeError> {
        let input = ResearchUpdate::default().topic(topic);
        let done = cx.run(&self.0, input).await?;
        Ok(ReportUpdate::default().parts(vec![done.text]))
    }
}

fn topics(report: &Report) -> Vec<String> {
    report.topics.clone()
}

/// A line for each topic.
enum Lines {
    Terminal(Vec<ProgressBar>),
    Plain(Vec<String>),
}

impl Lines {
    fn new(topics: &[String]) -> Self {
        if !std::io::stdout().is_terminal() {
            return Self::Plain(topics.to_vec());
        }
        let screen = MultiProgress::new();
        let style = ProgressStyle::with_template("{spinner} {prefix}: {msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        let line = |topic: &String| {
            let line = ProgressBar::new_spinner().with_style(style.clone());
            screen.add(line.with_prefix(topic.clone()))
        };
        Self::Terminal(topics.iter().map(line).collect())
    }

    fn show(&self, item: usize, text: &str) {
        match self {
            Self::Terminal(lines) => {
                if let Some(line) = lines.get(item) {
                    line.set_message(text.to_owned());
                    line.tick();
                }
            }
            Self::Plain(topics) => {
                if let Some(topic) = topics.get(item) {
                    println!("{item} {topic}: {text}");
                }
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = graph! { START => search => read => write => END }.compile()?;
    let research = Researcher(agent);
    let graph = graph! { START => for topic in topics { research(topic) } => END }.compile()?;

    let mut topics: Vec<String> = std::env::args().skip(1).collect();
    if topics.is_empty() {
        topics = ["tea", "cups", "tea"].map(str::to_owned).to_vec();
    }
    let lines = Lines::new(&topics);
    let modes = StreamMode::Tasks | StreamMode::Custom;
    let mut events = graph
        .run(ReportUpdate::default().topics(topics))
        .stream(StreamOptions::new(modes).subgraphs());
    while let Some(event) = events.next().await {
        let event = event?;
        // The task of the map, around the graph that the event is from.
        let Some(item) = event.parent.as_ref().and_then(|task| task.item()) else {
            continue;
        };
        match &event.kind {
            // An event of a graph over another state.
            EventKind::Inner(inner) => {
                if let Some(EventKind::TaskStarted(task)) = inner.typed::<Research>() {
                    lines.show(item, &task.node);
                }
            }
            EventKind::Custom { value, .. } => {
                lines.show(item, value.as_str().unwrap_or_default());
            }
            _ => {}
        }
    }
    for part in events.finish().await?.finished()?.parts {
        println!("{part}");
    }
    Ok(())
}
