//! Running the cases.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use langgraph::State;
use langgraph::checkpoint::{Accepts, Saver};
use langgraph::error::{AgentError, NodeError};
use langgraph::graph::{CompiledStateGraph, START, StateGraph, worker};
use langgraph::node::Context;
use langgraph::run::StreamOptions;
use langgraph::stream::{EventKind, StreamMode};
use serde::{Deserialize, Serialize};

use super::{Answer, Case, Dataset, Report, Scored, Scorer};

/// An evaluation of an agent, under a name.
///
/// It is a graph: each case is a task. On a saver, it is the thread of its name: if it is cut off,
/// the next call of [`run`](Self::run) evaluates the cases that are left, and if it is complete, the
/// next call returns the stored report.
pub struct Evaluation {
    name: String,
    run: Arc<RunCase>,
    scorers: Vec<Arc<dyn Scorer>>,
    at_once: usize,
    progress: Option<Box<Progress>>,
}

type Answering = Pin<Box<dyn Future<Output = Result<Answer, NodeError>> + Send>>;
type RunCase = dyn Fn(Case) -> Answering + Send + Sync;
type Progress = dyn Fn(usize, usize) + Send + Sync;

/// The state of an evaluation.
#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Board {
    /// All cases.
    pub cases: Vec<Case>,
    /// Those that are done.
    #[reducer(append)]
    pub scored: Vec<Scored>,
}

impl Evaluation {
    /// Creates an evaluation of `run`, which answers a case. An error of `run` is the result of its
    /// case, and does not stop the others.
    pub fn new<F, Fut>(name: impl Into<String>, run: F) -> Self
    where
        F: Fn(Case) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer, NodeError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            run: Arc::new(move |case| Box::pin(run(case))),
            scorers: Vec::new(),
            at_once: 8,
            progress: None,
        }
    }

    /// Adds a scorer.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Scorer) -> Self {
        self.scorers.push(Arc::new(scorer));
        self
    }

    /// Sets how many cases run at once; the default is 8.
    #[must_use]
    pub fn concurrency(mut self, cases: usize) -> Self {
        self.at_once = cases.max(1);
        self
    }

    /// Calls `progress` with the number of cases that are done, and of all cases.
    #[must_use]
    pub fn on_progress(mut self, progress: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Shows the progress on standard error: as a bar in a terminal, and as a line for each tenth of the
    /// cases elsewhere.
    ///
    /// Needs the feature `progress`.
    #[cfg(feature = "progress")]
    #[must_use]
    pub fn progress_bar(self) -> Self {
        let shown = super::progress::Shown::new(&self.name);
        self.on_progress(move |done, total| shown.at(done, total))
    }

    /// Evaluates the cases, or those that an earlier call has left.
    ///
    /// # Errors
    ///
    /// Those of the saver.
    pub async fn run<C: Saver<Stores: Accepts<Board>> + ?Sized>(
        &self,
        dataset: Dataset,
        saver: Arc<C>,
    ) -> Result<Report, AgentError> {
        let graph = self.graph()?.checkpointer(saver);
        let thread = graph.thread(&self.name);
        let run = match thread.state().await? {
            None => thread.run(BoardUpdate::default().cases(dataset.cases().to_vec())),
            Some(state) if state.next.is_empty() => {
                return Ok(Report::new(&self.name, &state.values));
            }
            Some(_) => thread.proceed(),
        };
        let run = run.max_concurrency(self.at_once);
        let mut events = run.stream(StreamOptions::from(StreamMode::Progress));
        while let Some(event) = events.next().await {
            if let (EventKind::Progress(map), Some(progress)) = (&event?.kind, &self.progress) {
                progress(map.done, map.total);
            }
        }
        let board = events.finish().await?.finished()?;
        Ok(Report::new(&self.name, &board))
    }

    fn graph(&self) -> Result<CompiledStateGraph<Board>, AgentError> {
        let (run, scorers) = (Arc::clone(&self.run), self.scorers.clone());
        let evaluate = borrowing(move |case: Case, _: &Board, cx: &Context| {
            let (run, scorers) = (Arc::clone(&run), scorers.clone());
            Box::pin(async move {
                let scored = evaluate(&case, &*run, &scorers, cx).await?;
                Ok(BoardUpdate::default().scored(vec![scored]))
            })
        });
        let mut graph = StateGraph::<Board>::new();
        graph.set_name("evaluation");
        let evaluate = graph.add_worker("evaluate", worker(evaluate));
        graph.add_map(START, |board: &Board| board.cases.clone(), &evaluate);
        let compiled = graph.compile();
        compiled.map_err(|errors| AgentError::InvalidInput(errors.to_string()))
    }
}

type Evaluating<'a> = Pin<Box<dyn Future<Output = Result<BoardUpdate, NodeError>> + Send + 'a>>;

/// Gives a closure the lifetimes of a worker.
fn borrowing<F>(run: F) -> F
where
    F: for<'a> Fn(Case, &'a Board, &'a Context) -> Evaluating<'a>,
{
    run
}

async fn evaluate(
    case: &Case,
    run: &RunCase,
    scorers: &[Arc<dyn Scorer>],
    cx: &Context,
) -> Result<Scored, NodeError> {
    let answer = match run(case.clone()).await {
        Ok(answer) => answer,
        Err(error) => return Ok(Scored::failed(case, scorers, &error)),
    };
    let mut scored = Scored::new(case, answer);
    for scorer in scorers {
        let score = scorer.score(case, &scored.answer, cx).await?;
        scored.scores.insert(scorer.name().to_owned(), score);
    }
    Ok(scored)
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scorers = self.scorers.iter().map(|scorer| scorer.name());
        f.debug_struct("Evaluation")
            .field("name", &self.name)
            .field("scorers", &scorers.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
