//! Tasks that run in other processes.

use std::any::TypeId;

use langgraph::executor::Executor;
use langgraph::prelude::*;

use crate::call::TaskCall;
use crate::task::{Anywhere, Task, TaskState, task_node};
use crate::task_executor::TaskExecutor;

/// The tasks of a program that run [anywhere](macro@crate::task): in worker processes.
///
/// A task with the option `anywhere` runs in the process of its entrypoint unless the entrypoint has an executor for
/// it. The set of tasks is what both sides share: a worker serves [its graph](Self::compile), and the entrypoint has
/// the [executor](Self::executor) as a resource. The workers are the same program in another role; one whose set is
/// another is refused by its fingerprint.
///
/// A worker runs a task inside its policies, with the resources of the worker's graph. Events, interrupts and the results
/// of [`Context::once`] are those of the run. Tasks that a task calls run in the worker too, and keep no record there:
/// they run again if another worker takes the task over.
///
/// # Examples
///
/// With the queue of `langgraph-nats`, where this example has an executor of its own:
///
/// ```
/// use std::sync::Arc;
/// use langgraph::executor::{Executor, Reported, Reporter, Running, TaskCall, TaskHost, TaskReport};
/// use langgraph::prelude::*;
/// use langgraph_functional::{EntrypointExt, TaskState, Tasks, entrypoint, task};
///
/// #[task(anywhere)]
/// async fn square(number: u64) -> u64 {
///     number * number
/// }
///
/// #[entrypoint]
/// async fn sum(cx: &Context) -> Result<u64, NodeError> {
///     let (first, second) = tokio::try_join!(square(2).on(cx), square(3).on(cx))?;
///     Ok(first + second)
/// }
///
/// fn tasks() -> Tasks {
///     Tasks::new().task(square)
/// }
/// # struct Queue(TaskHost<TaskState>);
/// # struct Discard;
/// # impl Reporter for Discard {
/// #     fn report(&self, _: TaskReport) -> Reported<'_> {
/// #         Box::pin(std::future::ready(Ok(())))
/// #     }
/// # }
/// # impl Executor for Queue {
/// #     fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a> {
/// #         Box::pin(async move {
/// #             let state = self.0.snapshot(&task.snapshot()?.text)?;
/// #             Ok(self.0.run(&task.order(), &state, Arc::new(Discard), Default::default()).await)
/// #         })
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // let queue = Nats::connect("nats://127.0.0.1:4222").await?.queue("sums");
/// // A worker: Worker::new(&tasks().compile()?).slots(8).serve(&queue).await?;
/// # let queue = Queue(tasks().compile()?.task_host());
/// let graph = sum.compile()?.resource(Arc::new(tasks().executor(queue)?));
/// assert_eq!(graph.invoke(sum()).await?.output, Some(13));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Tasks {
    graph: StateGraph<TaskState>,
    names: Vec<&'static str>,
    ids: Vec<TypeId>,
}

impl Tasks {
    /// Creates a set without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task: the function that `#[task(anywhere)]` has made.
    #[must_use]
    pub fn task<A, K: Anywhere>(mut self, _: impl TaskFunction<A, K>) -> Self {
        self.graph.add_node(K::NAME, task_node::<K>());
        self.names.push(K::NAME);
        self.ids.push(TypeId::of::<K>());
        self
    }

    /// Returns the graph of the tasks, which a worker serves.
    ///
    /// # Errors
    ///
    /// If there are no tasks, or two have one name: `#[task(anywhere, name = "…")]` gives one of them another.
    pub fn compile(&self) -> Result<CompiledStateGraph<TaskState>, CompilationErrors> {
        let mut graph = self.graph.clone();
        graph.set_name("tasks");
        let task = |state: &TaskState| state.task.clone().into_owned();
        graph.add_conditional_edges(START, task, &self.names);
        for name in &self.names {
            graph.add_edge(*name, END);
        }
        graph.compile()
    }

    /// Returns the tasks with an executor: a resource of entrypoints.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn executor(&self, executor: impl Executor) -> Result<TaskExecutor, CompilationErrors> {
        let graph = self.compile()?.executor(executor);
        Ok(TaskExecutor::new(graph, self.ids.clone()))
    }
}

/// The function that `#[task]` has made.
pub trait TaskFunction<A, K: Task> {}

macro_rules! functions {
    ($(($($argument:ident),*))*) => {$(
        impl<F, K, $($argument),*> TaskFunction<($($argument,)*), K> for F
        where
            K: Task,
            F: Fn($($argument),*) -> TaskCall<K>,
        {
        }
    )*};
}

functions!(()(A)(A, B)(A, B, C)(A, B, C, D)(A, B, C, D, G)(
    A, B, C, D, G, H
));
