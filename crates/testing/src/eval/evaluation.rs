//! Running the cases.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use langgraph::State;
use langgraph::checkpoint::{Accepts, Saver};
use langgraph::error::{AgentError, Interrupted, NodeError};
use langgraph::graph::{CompiledStateGraph, START, StateGraph, worker};
use langgraph::message::Usage;
use langgraph::node::Context;
use langgraph::stream::{EventKind, StreamMode, StreamOptions};
use langgraph_agent::Price;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{Answer, Case, Dataset, Report, Scored, Scorer};

/// An evaluation of an agent, under a name.
///
/// It is a graph: each case is a task. On a saver, it is a thread, named after the evaluation and a digest
/// of the cases: if it is cut off, the next call of [`run`](Self::run) evaluates the cases that are left,
/// and if it is complete, the next call returns the stored report. Other cases are another evaluation.
///
/// An answer is stored before it is scored. A scorer that fails leaves its case without that score, and
/// the next call of `run` scores the stored answer again; so it does with a scorer that was added.
pub struct Evaluation {
    name: String,
    run: Arc<RunCase>,
    scorers: Vec<Arc<dyn Scorer>>,
    at_once: usize,
    price: Option<Price>,
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
            price: None,
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

    /// Sets the price of the tokens, for answers that do not say what they cost.
    #[must_use]
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
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
        let thread = graph.thread(format!("{}@{}", self.name, dataset.digest()));
        let cases = dataset.cases();
        let run = match thread.state().await? {
            None => thread.run(BoardUpdate::default().cases(cases.to_vec())),
            Some(state) if state.next.is_empty() => {
                let unscored = self.unscored(cases, &state.values);
                if unscored.is_empty() {
                    return Ok(Report::new(&self.name, cases, &state.values));
                }
                thread.run(BoardUpdate::default().cases(unscored))
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
        Ok(Report::new(&self.name, cases, &board))
    }

    /// Returns the cases that lack the score of a scorer.
    fn unscored(&self, cases: &[Case], board: &Board) -> Vec<Case> {
        let is_unscored = |case: &&Case| {
            let scored = board.of(&case.id);
            scored.is_none_or(|scored| {
                let mut scorers = self.scorers.iter();
                let lacks = |scorer: &Arc<dyn Scorer>| !scored.scores.contains_key(scorer.name());
                scorers.any(lacks)
            })
        };
        cases.iter().filter(is_unscored).cloned().collect()
    }

    fn graph(&self) -> Result<CompiledStateGraph<Board>, AgentError> {
        let runner = Arc::new(CaseRunner {
            run: Arc::clone(&self.run),
            scorers: self.scorers.clone(),
            price: self.price,
        });
        let evaluate = borrowing(move |case: Case, board: &Board, cx: &Context| {
            let runner = Arc::clone(&runner);
            Box::pin(async move {
                let scored = runner.evaluate(&case, board.of(&case.id), cx).await?;
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

impl Board {
    /// Returns the latest result of a case.
    pub(super) fn of(&self, case: &str) -> Option<&Scored> {
        self.scored.iter().rfind(|scored| scored.id == case)
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

/// What evaluates a case.
struct CaseRunner {
    run: Arc<RunCase>,
    scorers: Vec<Arc<dyn Scorer>>,
    price: Option<Price>,
}

impl CaseRunner {
    async fn evaluate(
        &self,
        case: &Case,
        earlier: Option<&Scored>,
        cx: &Context,
    ) -> Result<Scored, NodeError> {
        let mut scored = match earlier {
            Some(earlier) => earlier.clone(),
            None => match self.answer(case, cx).await {
                Ok((answer, time)) => Scored::new(case, answer, time),
                Err(error) => return Ok(Scored::failed(case, &self.scorers, &error)),
            },
        };
        if scored.error.is_some() {
            scored.fail(&self.scorers);
            return Ok(scored);
        }
        scored.unscored.clear();
        for scorer in &self.scorers {
            let name = scorer.name();
            if scored.scores.contains_key(name) {
                continue;
            }
            match scorer.score(case, &scored.answer, cx).await {
                Ok(score) => {
                    scored.scores.insert(name.to_owned(), score);
                }
                Err(error) if error.is::<Interrupted>() => return Err(error),
                Err(error) => {
                    scored.unscored.insert(name.to_owned(), error.to_string());
                }
            }
        }
        Ok(scored)
    }

    /// Returns the answer and how long it took. It is stored before it is scored.
    async fn answer(&self, case: &Case, cx: &Context) -> Result<(Answer, Duration), NodeError> {
        let answer = async {
            let before = Instant::now();
            let mut answer = (self.run)(case.clone()).await?;
            let price = self.price.filter(|_| answer.usage != Usage::default());
            answer.cost = answer.cost.or(price.map(|price| price.of(answer.usage)));
            Ok::<_, NodeError>((answer, before.elapsed()))
        };
        cx.once("answer", answer).await
    }
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
