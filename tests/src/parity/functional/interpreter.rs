//! The entrypoint and the tasks of every case: they run the program that the run's world has.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::join_all;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_functional::{Final, Tasks, entrypoint, task};
use serde_json::Value;

use super::program::{Call, FunctionSpec, Statement, Variables};
use crate::parity::case::FailKind;
use crate::parity::ops::Failed;
use crate::parity::world::World;

/// What the functions of a case share.
pub(super) struct Functions {
    pub(super) spec: Arc<FunctionSpec>,
    pub(super) started: World,
    /// How often each `fail` was reached.
    pub(super) failures: World,
}

type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T, NodeError>> + Send + 'a>>;

/// The end of a function: what it returns, and what it saves.
#[derive(Clone, Debug, Default)]
struct Done {
    value: Value,
    save: Value,
}

#[entrypoint]
pub(super) async fn workflow(
    input: Value,
    cx: &Context,
    previous: Option<&Value>,
) -> Result<Final<Value, Value>, NodeError> {
    let done = run("workflow", input, previous.cloned(), cx).await?;
    Ok(Final::new(done.value).save(done.save))
}

#[task(anywhere)]
async fn a(input: Value, cx: &Context) -> Result<Value, NodeError> {
    Ok(run("a", input, None, cx).await?.value)
}

#[task(anywhere)]
async fn b(input: Value, cx: &Context) -> Result<Value, NodeError> {
    Ok(run("b", input, None, cx).await?.value)
}

#[task(anywhere)]
async fn c(input: Value, cx: &Context) -> Result<Value, NodeError> {
    Ok(run("c", input, None, cx).await?.value)
}

#[task(anywhere, retry = RetryPolicy::attempts(3).retry_on(|_| true).immediately())]
async fn flaky(input: Value, cx: &Context) -> Result<Value, NodeError> {
    Ok(run("flaky", input, None, cx).await?.value)
}

#[task(anywhere, cache)]
async fn cached(input: Value, cx: &Context) -> Result<Value, NodeError> {
    Ok(run("cached", input, None, cx).await?.value)
}

/// The tasks, for workers.
pub(super) fn tasks() -> Tasks {
    let tasks = Tasks::new().task(a).task(b).task(c);
    tasks.task(flaky).task(cached)
}

/// Calls a task. The order of the calls counts, so it begins here and not when the future is polled.
fn call<'a>(name: &str, input: Value, cx: &'a Context) -> Running<'a, Value> {
    match name {
        "a" => Box::pin(a(input).on(cx)),
        "b" => Box::pin(b(input).on(cx)),
        "c" => Box::pin(c(input).on(cx)),
        "flaky" => Box::pin(flaky(input).on(cx)),
        "cached" => Box::pin(cached(input).on(cx)),
        other => {
            let error = NodeError::msg(format!("no task `{other}`"));
            Box::pin(std::future::ready(Err(error)))
        }
    }
}

/// The results of calls, in their order. As in Python, one that fails does not stop the others.
async fn all(calls: Vec<Running<'_, Value>>) -> Result<Value, NodeError> {
    join_all(calls).await.into_iter().collect()
}

fn run<'a>(
    name: &'static str,
    input: Value,
    previous: Option<Value>,
    cx: &'a Context,
) -> Running<'a, Done> {
    Box::pin(async move {
        let functions = cx.resource_arc::<Functions>()?;
        let mut variables = Variables::default();
        variables.set("input", input);
        variables.set("previous", previous.unwrap_or_default());
        variables.set("run", functions.started.start(name).into());
        let frame = Frame {
            functions: &functions,
            cx,
        };
        let body = functions.spec.body(name);
        let done = frame.block(body, &mut variables).await?;
        Ok(done.unwrap_or_default())
    })
}

/// A function that runs.
#[derive(Clone, Copy)]
struct Frame<'a> {
    functions: &'a Functions,
    cx: &'a Context,
}

impl<'a> Frame<'a> {
    fn block<'b>(
        self,
        statements: &'b [Statement],
        variables: &'b mut Variables,
    ) -> Running<'b, Option<Done>>
    where
        'a: 'b,
    {
        Box::pin(async move {
            for statement in statements {
                let done = self.statement(statement, variables).await?;
                if done.is_some() {
                    return Ok(done);
                }
            }
            Ok(None)
        })
    }

    async fn statement(
        self,
        statement: &Statement,
        variables: &mut Variables,
    ) -> Result<Option<Done>, NodeError> {
        let (into, value) = match statement {
            Statement::Call(one) => (&one.into, self.call(one, variables).await?),
            Statement::Each(each) => {
                let arguments = variables.list(&each.each).into_iter();
                let calls: Vec<_> = arguments
                    .map(|argument| call(&each.call, argument, self.cx))
                    .collect();
                (&each.into, all(calls).await?)
            }
            Statement::Parallel(parallel) => {
                let calls = parallel.parallel.iter();
                let calls: Vec<_> = calls
                    .map(|one| call(&one.call, variables.value(&one.arg), self.cx))
                    .collect();
                (&parallel.into, all(calls).await?)
            }
            Statement::Interrupt(ask) => {
                let payload = variables.value(&ask.interrupt);
                (&ask.into, self.cx.interrupt_next(&payload)?)
            }
            other => return self.other(other, variables).await,
        };
        if let Some(name) = into {
            variables.set(name, value);
        }
        Ok(None)
    }

    async fn call(self, one: &Call, variables: &Variables) -> Result<Value, NodeError> {
        let called = call(&one.call, variables.value(&one.arg), self.cx).await;
        match (called, &one.catch) {
            (Err(_), Some(caught)) => Ok(variables.value(caught)),
            (called, _) => called,
        }
    }

    /// The statements that call nothing.
    async fn other(
        self,
        statement: &Statement,
        variables: &mut Variables,
    ) -> Result<Option<Done>, NodeError> {
        match statement {
            Statement::For(each) => {
                for item in variables.list(&each.list) {
                    variables.set(&each.name, item);
                    let done = self.block(&each.block, variables).await?;
                    if done.is_some() {
                        return Ok(done);
                    }
                }
            }
            Statement::When(when) => {
                let holds = variables.value(&when.when) == true;
                let block = if holds { &when.then } else { &when.otherwise };
                return self.block(block, variables).await;
            }
            Statement::Fail(fail) => {
                let reached = self.functions.failures.start(&fail.fail);
                if fail.times.is_none_or(|times| reached <= times) {
                    let failed = Failed {
                        message: fail.fail.clone(),
                        kind: FailKind::default(),
                    };
                    return Err(failed.into());
                }
            }
            Statement::Emit(emit) => self.cx.emit(variables.value(&emit.emit)).await?,
            Statement::Push(push) => {
                let value = variables.value(&push.value);
                variables.push(&push.push, value);
            }
            Statement::Set(set) => {
                let value = variables.value(&set.value);
                variables.set(&set.name, value);
            }
            Statement::Return(end) => {
                let value = variables.value(&end.value);
                let save = end.save.as_ref().map(|save| variables.value(save));
                let save = save.unwrap_or_else(|| value.clone());
                return Ok(Some(Done { value, save }));
            }
            Statement::Call(_)
            | Statement::Each(_)
            | Statement::Parallel(_)
            | Statement::Interrupt(_) => {}
        }
        Ok(None)
    }
}
