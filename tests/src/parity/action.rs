//! The actions of a case, and their results in the case's form.

#[cfg(feature = "restate")]
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;
#[cfg(feature = "restate")]
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{CheckpointId, Checkpointer, Durability, MemorySaver, Snapshot};
use langgraph::error::AgentError;
use langgraph::interrupt::Interrupt;
use langgraph::run::Run;
use langgraph::stream::StreamOptions;
use langgraph::thread::OnOpenInterrupt;
use langgraph::{Command, CompiledStateGraph};
use serde_json::{Map, Value, json};

use super::build::{NotBuilt, Place, breakpoints, build, refusal};
use super::case::{Action, Case, Checkpointing, CommandSpec, Config, Do, GraphSpec, OneOrMany};
use super::chunk::{Chunks, Wanted, payloads};
use super::expr::{Scope, same};
#[cfg(feature = "restate")]
use super::on_restate::{self, Ask};
use super::ops::targets;
use super::schema::Schema;
use super::snapshot;
use super::state::{Dynamic, DynamicUpdate};
use super::workplace::SharedSite;
#[cfg(feature = "restate")]
use super::workplace::Workplace;
use super::world::World;
use super::{kind, messages, update, writes};

/// The default step limit of a run.
const LIMIT: i64 = 25;

/// Builds the graph of a case, executes its actions, and returns the results in the form of an
/// expectation.
///
/// # Errors
///
/// If the runner does not support something in the case.
pub(super) async fn answer(
    case: &Case,
    spec: &Arc<GraphSpec>,
    saver: Arc<dyn Checkpointer>,
    site: SharedSite,
) -> Result<Value, String> {
    let world = Arc::new(World::default());
    let place = Place {
        path: Vec::new(),
        outer: None,
        site: Arc::clone(&site),
        world: Arc::clone(&world),
    };
    let graph = match build(spec, &place) {
        Ok(graph) => graph,
        Err(NotBuilt::Unable(why)) => return Err(why),
        Err(NotBuilt::Refused(errors)) => {
            let kind = refusal(&errors, spec);
            return Ok(json!({ "build_error": { "kind": kind } }));
        }
    };
    let keeps = spec.checkpointer != Checkpointing::None;
    // As in Python, where a new input drops what is asked.
    let kept = |graph: CompiledStateGraph<Dynamic>| {
        let graph = graph.checkpointer(Arc::clone(&saver));
        graph.on_open_interrupt(OnOpenInterrupt::Drop)
    };
    #[cfg(feature = "restate")]
    let objects = objects(case, spec, &place, kept)?;
    site.open().await?;
    let session = Session {
        graph: if keeps { kept(graph) } else { graph },
        #[cfg(feature = "restate")]
        objects,
        site,
        keeps,
        case: case.name.clone(),
        spec: Arc::clone(spec),
        schema: Arc::new(Schema::of(spec)?),
        world,
    };
    let results = session.all(&case.runs).await;
    // All cases share the saver.
    for action in &case.runs {
        let thread = session.thread(action);
        let administration = saver.administration_for("the parity suite");
        let administration = administration.map_err(|error| error.to_string())?;
        let deleted = administration.delete_thread(&thread).await;
        deleted.map_err(|error| error.to_string())?;
    }
    Ok(json!({ "results": results? }))
}

/// One compiled graph, and what its actions share.
struct Session {
    graph: CompiledStateGraph<Dynamic>,
    /// The names of the graph on Restate, by the step limits of its runs.
    #[cfg(feature = "restate")]
    objects: BTreeMap<usize, String>,
    site: SharedSite,
    /// The graph has a checkpointer.
    keeps: bool,
    /// The prefix of its threads' names.
    case: String,
    spec: Arc<GraphSpec>,
    schema: Arc<Schema>,
    world: Arc<World>,
}

/// Why an action has no result.
enum Trouble {
    /// An error of the library, which is a result too.
    Error(AgentError),
    /// A limitation of the runner.
    Unable(String),
}

impl From<AgentError> for Trouble {
    fn from(error: AgentError) -> Self {
        Self::Error(error)
    }
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Unable(why)
    }
}

impl Session {
    async fn all(&self, actions: &[Action]) -> Result<Vec<Value>, String> {
        let mut results = Vec::new();
        for action in actions {
            results.push(self.act(action).await?);
        }
        Ok(results)
    }

    fn thread(&self, action: &Action) -> String {
        let name = action.thread.as_deref().unwrap_or("t");
        format!("{}/{name}", self.case)
    }

    async fn act(&self, action: &Action) -> Result<Value, String> {
        let thread = &self.thread(action);
        let runs = matches!(
            action.what,
            Do::Invoke { .. } | Do::Command(_) | Do::Stream { .. }
        );
        let mut result = match self.try_act(action, thread).await {
            Ok(result) => result,
            Err(Trouble::Error(error)) => json!({ "error": kind::error(&error) }),
            Err(Trouble::Unable(why)) => return Err(why),
        };
        let executed = self.world.take();
        if let (true, Some(result)) = (runs, result.as_object_mut()) {
            result.insert("executed".to_owned(), executed);
        }
        Ok(result)
    }

    async fn try_act(&self, action: &Action, thread: &str) -> Result<Value, Trouble> {
        let at = match action.at {
            Some(index) => Some(self.checkpoint(thread, index).await?),
            None => None,
        };
        let handle = self.graph.thread(thread);
        let handle = at.map_or(handle.clone(), |at| handle.at(at));
        #[cfg(feature = "restate")]
        if let Some(result) = self.on_restate(action, thread).await? {
            return Ok(result);
        }
        match &action.what {
            Do::Invoke { input } => {
                let run = self.input(input, thread)?;
                let goes_on = input.is_null();
                self.invoke(self.configured(run, thread, at, &action.config)?, goes_on)
                    .await
            }
            Do::Command(command) => {
                let run = self.command(command, thread).await?;
                let goes_on = self.knows(thread).await?;
                self.invoke(self.configured(run, thread, at, &action.config)?, goes_on)
                    .await
            }
            Do::Stream {
                mode,
                input,
                command,
                subgraphs,
            } => {
                let run = match command {
                    Some(command) => self.command(command, thread).await?,
                    None => self.input(input, thread)?,
                };
                let wanted = Wanted {
                    modes: mode.as_slice(),
                    tagged: matches!(mode, OneOrMany::Many(_)),
                    subgraphs: *subgraphs,
                };
                let run = self.configured(run, thread, at, &action.config)?;
                self.stream(run, wanted).await
            }
            Do::GetState { subgraphs } => {
                let found = if *subgraphs {
                    handle.state_with_subgraphs().await?
                } else {
                    handle.state().await?
                };
                let found = match found {
                    Some(found) if at.is_none() => Some(self.without_joined(thread, found).await?),
                    found => found,
                };
                let graph = subgraphs.then_some(&*self.spec);
                Ok(json!({ "state": snapshot::state(found.as_ref(), graph) }))
            }
            Do::GetHistory {} => {
                let history = handle.history().await?;
                Ok(json!({ "history": snapshot::history(&history) }))
            }
            Do::UpdateState(update) => {
                let change = update::one(&handle, &self.schema, update)?;
                update::make(change).await?;
                Ok(json!({ "ok": true }))
            }
            Do::BulkUpdate { supersteps } => {
                for change in update::several(&handle, &self.schema, supersteps)? {
                    update::make(change).await?;
                }
                Ok(json!({ "ok": true }))
            }
        }
    }

    /// Python does not show the tasks that a command has started beside a checkpoint's own.
    async fn without_joined(
        &self,
        thread: &str,
        found: Snapshot<Dynamic>,
    ) -> Result<Snapshot<Dynamic>, Trouble> {
        let saved = self.graph.thread(thread).at(found.id).state().await?;
        Ok(match saved {
            Some(saved) => snapshot::of_the_first(saved.tasks.len(), found),
            None => found,
        })
    }

    async fn checkpoint(&self, thread: &str, index: usize) -> Result<CheckpointId, Trouble> {
        let history = self.graph.thread(thread).history().await?;
        let found = history.get(index).map(|snapshot| snapshot.id);
        found.ok_or_else(|| Trouble::Unable(format!("no checkpoint {index}")))
    }

    /// A run with an input; `null` continues the thread.
    fn input(&self, input: &Value, thread: &str) -> Result<Run<Dynamic>, Trouble> {
        match input {
            Value::Null => Ok(self.graph.thread(thread).proceed()),
            Value::Object(map) => {
                let input = writes::input(&self.schema, literal(map)?);
                let asks = format!("{:?}", self.spec).contains("Interrupt {");
                if self.keeps || !asks {
                    return Ok(self.graph.run(input));
                }
                // Python shows a question that can never be answered; here it is an error. So the
                // run has a thread, which is gone with it.
                let forgets = Arc::new(MemorySaver::new());
                let graph = self.graph.clone().checkpointer(forgets);
                Ok(graph.run(input).thread("forgotten"))
            }
            other => Err(Trouble::Unable(format!("no input: {other}"))),
        }
    }

    /// A run with a Command.
    async fn command(&self, spec: &CommandSpec, thread: &str) -> Result<Run<Dynamic>, Trouble> {
        let command = self.spelled(spec)?;
        let run = match (&spec.resume, &spec.resume_map) {
            (Some(answer), _) => self.graph.thread(thread).answer(answer),
            (None, Some(pairs)) => {
                let answers = self.named(pairs, thread).await?;
                self.graph.thread(thread).resume_all(answers)
            }
            (None, None) => {
                let known = !self.keeps || self.knows(thread).await?;
                let command = command.unwrap_or_default();
                return Ok(if known {
                    self.graph.thread(thread).proceed().command(command)
                } else {
                    // In Python an input also starts START's edges, wherever it goes.
                    let begins = DynamicUpdate {
                        input: true,
                        ..DynamicUpdate::default()
                    };
                    self.graph.run(command.and_update(begins).and_edges())
                });
            }
        };
        Ok(match command {
            Some(command) => run.command(command),
            None => run,
        })
    }

    fn spelled(&self, spec: &CommandSpec) -> Result<Option<Command<Dynamic>>, Trouble> {
        if spec.update.is_none() && spec.goto.is_none() {
            return Ok(None);
        }
        let mut command = match &spec.update {
            Some(update) => writes::command(literal(update)?),
            None => Command::default(),
        };
        if let Some(goto) = &spec.goto {
            let places = Scope::of(&Value::Null, "__start__").targets(goto);
            let places = places.map_err(|error| error.to_string())?;
            command = command.and_goto(targets(places, &self.schema));
        }
        Ok(Some(command))
    }

    /// Finds the interrupts with these payloads.
    async fn named(
        &self,
        pairs: &[(Value, Value)],
        thread: &str,
    ) -> Result<Vec<(String, Value)>, Trouble> {
        let snapshot = self.graph.thread(thread).state().await?;
        let mut open = snapshot.as_ref().map_or_else(Vec::new, snapshot::open);
        let mut named = Vec::new();
        for (payload, answer) in pairs {
            let place = open.iter().position(|asked| same(&asked.payload, payload));
            let id = match place {
                Some(place) => open.remove(place).id,
                None => format!("unknown: {payload}"),
            };
            named.push((id, answer.clone()));
        }
        Ok(named)
    }

    fn configured(
        &self,
        mut run: Run<Dynamic>,
        thread: &str,
        at: Option<CheckpointId>,
        config: &Config,
    ) -> Result<Run<Dynamic>, Trouble> {
        if self.keeps {
            run = run.thread(thread);
        }
        if let Some(at) = at {
            run = run.at(at);
        }
        run = match config.durability.as_deref() {
            None | Some("sync") => run.durability(Durability::Sync),
            Some("async") => run.durability(Durability::Async),
            Some("exit") => run.durability(Durability::Exit),
            Some(other) => return Err(Trouble::Unable(format!("no durability `{other}`"))),
        };
        if let Some(stops) = &config.interrupt_before {
            run = run.interrupt_before(breakpoints(stops)?);
        }
        if let Some(stops) = &config.interrupt_after {
            run = run.interrupt_after(breakpoints(stops)?);
        }
        if self.site.is_inline() {
            run = run.max_concurrency(1);
        }
        Ok(run.limit(limit(config)))
    }

    async fn knows(&self, thread: &str) -> Result<bool, Trouble> {
        Ok(self.keeps && self.graph.thread(thread).state().await?.is_some())
    }

    async fn invoke(&self, run: Run<Dynamic>, goes_on: bool) -> Result<Value, Trouble> {
        let outcome = run.await?;
        Ok(ended(outcome.state(), outcome.interrupts(), goes_on))
    }

    /// Drives the thread on Restate, where it takes the action.
    #[cfg(feature = "restate")]
    async fn on_restate(&self, action: &Action, thread: &str) -> Result<Option<Value>, Trouble> {
        let Workplace::Restate(server) = &self.site.workplace else {
            return Ok(None);
        };
        let Some(graph) = self.objects.get(&limit(&action.config)) else {
            return Ok(None);
        };
        if !is_for_restate(action) {
            return Ok(None);
        }
        let (ask, goes_on) = match &action.what {
            Do::Invoke {
                input: Value::Object(map),
            } => {
                let Some(input) = writes::plain_input(&self.schema, literal(map)?) else {
                    return Ok(None);
                };
                (Ask::Start(input), false)
            }
            Do::Invoke { input: Value::Null } => (Ask::Proceed, true),
            Do::Command(command) => {
                let goes_on = self.knows(thread).await?;
                let ask = match (&command.resume, &command.resume_map) {
                    (Some(answer), _) => Ask::Answer(answer.clone()),
                    (None, Some(pairs)) => Ask::Resume(self.named(pairs, thread).await?),
                    (None, None) => return Ok(None),
                };
                (ask, goes_on)
            }
            _ => return Ok(None),
        };
        DRIVEN.fetch_add(1, Ordering::Relaxed);
        let thread = server.restate.thread(graph, thread);
        let initial = Dynamic::new(Arc::clone(&self.schema));
        Ok(Some(match on_restate::ask(&thread, ask, initial).await {
            Ok(end) => ended(&end.state, &end.interrupts, goes_on),
            Err(error) => json!({ "error": error }),
        }))
    }

    async fn stream(&self, run: Run<Dynamic>, wanted: Wanted<'_>) -> Result<Value, Trouble> {
        let mut options = StreamOptions::new(wanted.modes()?);
        if wanted.subgraphs {
            options = options.subgraphs();
        }
        let mut events = run.stream(options);
        let mut chunks = Chunks::new(wanted, &self.spec);
        let mut failed = None;
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => chunks.see(event),
                Err(error) => failed = Some(kind::error(&error)),
            }
        }
        let mut result = Map::from_iter([("chunks".to_owned(), chunks.groups())]);
        if let Some(error) = failed {
            result.insert("error".to_owned(), error);
        }
        Ok(Value::Object(result))
    }
}

/// How a run ended: its output fields, or `null` if it wrote none, and what it asks. A resumed run also has
/// the fields that it starts from.
fn ended(state: &Dynamic, interrupts: &[Interrupt], goes_on: bool) -> Value {
    let values = if state.touched == 0 && !goes_on && interrupts.is_empty() {
        Value::Null
    } else {
        messages::marked(Value::Object(state.output()))
    };
    json!({ "values": values, "interrupts": payloads(interrupts) })
}

/// The step limit of a run.
fn limit(config: &Config) -> usize {
    usize::try_from(config.recursion_limit.unwrap_or(LIMIT)).unwrap_or(0)
}

/// How many runs were driven on Restate.
#[cfg(feature = "restate")]
pub(super) static DRIVEN: AtomicUsize = AtomicUsize::new(0);

/// True if a thread on Restate takes what the action is configured with.
#[cfg(feature = "restate")]
fn is_for_restate(action: &Action) -> bool {
    let Config {
        interrupt_before,
        interrupt_after,
        durability,
        ..
    } = &action.config;
    let plain = interrupt_before.is_none() && interrupt_after.is_none() && durability.is_none();
    let runs = match &action.what {
        Do::Invoke { .. } => true,
        Do::Command(command) => command.update.is_none() && command.goto.is_none(),
        _ => false,
    };
    plain && runs && action.at.is_none()
}

/// Serves the threads of a case's graph: once for each step limit of its runs.
#[cfg(feature = "restate")]
fn objects(
    case: &Case,
    spec: &GraphSpec,
    place: &Place,
    kept: impl Fn(CompiledStateGraph<Dynamic>) -> CompiledStateGraph<Dynamic>,
) -> Result<BTreeMap<usize, String>, String> {
    let mut objects = BTreeMap::new();
    let is_served = matches!(place.site.workplace, Workplace::Restate(_));
    // A cache belongs to a graph, and here each step limit is a graph of its own.
    let caches = case.features.iter().any(|needs| needs == "cache");
    if !is_served || caches || spec.checkpointer == Checkpointing::None {
        return Ok(objects);
    }
    for action in case.runs.iter().filter(|action| is_for_restate(action)) {
        let limit = limit(&action.config);
        if let Entry::Vacant(object) = objects.entry(limit) {
            let graph = build(spec, place).map_err(|error| format!("{error:?}"))?;
            object.insert(graph.topology().name.clone());
            place.site.services.add_threads(&kept(graph), limit);
        }
    }
    Ok(objects)
}

/// Evaluates expressions that see nothing.
pub(super) fn literal(map: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let scope = Scope::of(&Value::Null, "__start__");
    let entries = map
        .iter()
        .map(|(key, expr)| Ok((key.clone(), scope.eval(expr)?)));
    let entries: Result<_, super::expr::BadCase> = entries.collect();
    entries.map_err(|error| error.to_string())
}
