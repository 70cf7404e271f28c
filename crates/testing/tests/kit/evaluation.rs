//! Evaluations: they score, go on, and compare.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::NodeError;
use langgraph::message::{ToolCall, Usage};
use langgraph_agent::{ModelError, ModelErrorKind, Price, ScriptedModel, Turn};
use langgraph_testing::eval::{
    Answer, Case, Dataset, Evaluation, Report, Score, contains, exact, json_subset, judge, scorer,
    trajectory,
};
use serde_json::json;

const CASES: &str = r#"
{"id": "a", "input": 1, "expected": 2, "tags": ["small"]}
{"id": "b", "input": 20, "expected": 40}
{"input": 300, "expected": 600, "tags": ["large"]}
"#;

fn doubled() -> Evaluation {
    Evaluation::new("double", |case| async move {
        match case.input.as_i64() {
            Some(300) => Err(NodeError::msg("too large")),
            Some(20) => Ok(Answer::new(41)),
            n => Ok(Answer::new(n.unwrap_or_default() * 2)),
        }
    })
    .scorer(exact())
}

async fn run(evaluation: &Evaluation) -> Report {
    let cases = Dataset::parse(CASES).unwrap();
    evaluation
        .run(cases, Arc::new(MemorySaver::new()))
        .await
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn k9_a_data_set_gives_a_table() {
    let report = run(&doubled()).await;
    assert_eq!(
        report.table(),
        "case  exact  seconds\n\
         a     1.00   0.00\n\
         b     0.00   0.00\n\
         4     0.00   0.00     too large\n\
         mean  0.33   -\n\
         sum   -      0.00\n"
    );
    assert_eq!(
        (report.mean_of("exact", "small"), report.mean("none")),
        (Some(1.0), None)
    );
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
}

#[tokio::test]
async fn k9_an_evaluation_that_was_cut_off_goes_on_and_a_complete_one_is_kept() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let stuck = Arc::new(AtomicUsize::new(1));
    let (noted, left) = (Arc::clone(&ran), Arc::clone(&stuck));
    let evaluation = Evaluation::new("slow", move |case| {
        noted.lock().unwrap().push(case.id.clone());
        let hangs = case.id == "b" && left.swap(0, Ordering::Relaxed) == 1;
        async move {
            if hangs {
                std::future::pending::<()>().await;
            }
            Ok(Answer::new(case.input))
        }
    })
    .scorer(scorer("any", |_, _| true));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let evaluation =
        evaluation.on_progress(move |done, all| notes.lock().unwrap().push((done, all)));

    let saver = Arc::new(MemorySaver::new());
    let cases = || Dataset::parse(CASES).unwrap();
    let cut_off = evaluation.run(cases(), Arc::clone(&saver));
    tokio::time::timeout(Duration::from_millis(100), cut_off)
        .await
        .unwrap_err();
    let report = evaluation.run(cases(), Arc::clone(&saver)).await.unwrap();
    assert_eq!(report.mean("any"), Some(1.0));
    let ids: Vec<_> = report.cases.iter().map(|case| case.id.clone()).collect();
    assert_eq!(ids, ["a", "b", "4"]);
    assert_eq!(ran.lock().unwrap().concat().replace('4', ""), "abb");
    assert_eq!(seen.lock().unwrap().last(), Some(&(3, 3)));

    let again = evaluation.run(cases(), saver).await.unwrap();
    assert_eq!(again, report);
    assert_eq!(ran.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn k9_a_scorer_that_was_added_also_scores_the_cases_whose_agent_failed() {
    let saver = Arc::new(MemorySaver::new());
    let cases = || Dataset::parse(CASES).unwrap();
    doubled().run(cases(), Arc::clone(&saver)).await.unwrap();
    let more = || doubled().scorer(scorer("any", |_, _| true));
    let report = more().run(cases(), Arc::clone(&saver)).await.unwrap();
    let fresh = run(&more()).await;
    assert_eq!(report.mean("any"), fresh.mean("any"));
    assert_eq!(report.cases[2].scores, fresh.cases[2].scores);
    assert_eq!(report.cases[2].error.as_deref(), Some("too large"));
    assert_eq!(more().run(cases(), saver).await.unwrap(), report);
}

#[tokio::test(start_paused = true)]
async fn k9_a_report_says_what_the_answers_cost_and_how_long_they_took() {
    let evaluation = Evaluation::new("cost", |case| async move {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        let answer = Answer::new(case.input.clone());
        Ok(match &*case.id {
            "a" => answer.cost(0.25),
            "b" => answer.usage(Usage::new(1_000_000, 0)),
            _ => answer,
        })
    });
    let price = Price::per_million(0.5, 1.0);
    let report = run(&evaluation.scorer(exact()).price(price)).await;
    assert_eq!(
        report.table(),
        "case  exact  seconds  cost\n\
         a     0.00   1.50     0.25\n\
         b     0.00   1.50     0.50\n\
         4     0.00   1.50     -\n\
         mean  0.00   -        -\n\
         sum   -      4.50     0.75\n"
    );
    assert_eq!(report.cost(), Some(0.75));
    assert_eq!(report.time(), Duration::from_millis(4_500));
    assert_eq!(report.usage().total(), 1_000_000);
}

#[tokio::test]
async fn k9_other_cases_under_the_same_name_are_another_evaluation() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let evaluation = Evaluation::new("same", move |case| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok(Answer::new(case.input)) }
    });
    let evaluation = evaluation.scorer(exact());
    let saver = Arc::new(MemorySaver::new());
    let cases = |text: &str| Dataset::parse(text).unwrap();
    let first = cases(r#"{"id": "a", "input": 1, "expected": 1}"#);
    let other = cases(r#"{"id": "a", "input": 1, "expected": 2}"#);
    let before = evaluation.run(first.clone(), Arc::clone(&saver));
    let before = before.await.unwrap();
    let after = evaluation.run(other, Arc::clone(&saver)).await.unwrap();
    assert_eq!(
        (before.mean("exact"), after.mean("exact")),
        (Some(1.0), Some(0.0))
    );
    assert_eq!(count.load(Ordering::Relaxed), 2);
    // A score for something else is no change of a score.
    let comparison = after.compare(&before);
    assert_eq!(
        (comparison.altered, comparison.changes.len()),
        (vec!["a".to_owned()], 0)
    );

    let again = evaluation.run(first, saver).await.unwrap();
    assert_eq!(again, before);
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn k9_a_judge_that_fails_costs_its_case_only_and_no_answer_twice() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let answers = move |case: Case| {
        noted.lock().unwrap().push(case.id.clone());
        async { Ok(Answer::new(case.input)) }
    };
    let down = || ModelError::new(ModelErrorKind::Timeout, "the judge is away");
    let verdict = || Turn::text(r#"{"reason": "fine", "score": 1.0}"#);
    let with = |turns: Vec<Turn>| {
        let evaluation = Evaluation::new("judged", answers.clone()).concurrency(1);
        evaluation.scorer(judge(ScriptedModel::new(turns), "It is fine."))
    };
    let saver = Arc::new(MemorySaver::new());
    let cases = || Dataset::parse(CASES).unwrap();
    let first = with(vec![verdict(), down().into(), verdict()]);
    let report = first.run(cases(), Arc::clone(&saver)).await.unwrap();
    assert_eq!(report.mean("judge"), Some(1.0));
    let [_, failed, _] = &*report.cases else {
        panic!("{report:?}");
    };
    assert!(failed.scores.is_empty() && failed.error.is_none());
    assert_eq!(failed.unscored["judge"], "the judge is away");
    assert!(
        report.table().contains("judge: the judge is away"),
        "{}",
        report.table()
    );

    // Only the missing score is given; the answers are those that were paid.
    let second = with(vec![verdict()]);
    let report = second.run(cases(), Arc::clone(&saver)).await.unwrap();
    let ids: Vec<_> = report.cases.iter().map(|case| &*case.id).collect();
    assert_eq!(ids, ["a", "b", "4"]);
    assert!(report.cases.iter().all(|case| case.scores.len() == 1));
    // So is the score of another scorer.
    let third = with(Vec::new()).scorer(exact());
    let report = third.run(cases(), saver).await.unwrap();
    assert_eq!(report.mean("exact"), Some(0.0));
    assert_eq!(report.mean("judge"), Some(1.0));
    assert_eq!(*asked.lock().unwrap(), ["a", "b", "4"]);
}

/// A report of 20 cases whose scores are `scores`, again and again.
async fn scored(scores: &'static [f64]) -> Report {
    let lines = (0..20).map(|case| format!("{{\"input\": {case}}}\n"));
    let cases = Dataset::parse(&lines.collect::<String>()).unwrap();
    let answers = |case: Case| async { Ok(Answer::new(case.input)) };
    let evaluation = Evaluation::new("noise", answers).scorer(scorer("judge", |case, _| {
        let place = usize::try_from(case.input.as_u64().unwrap()).unwrap();
        Score::new(scores[place % scores.len()])
    }));
    let saver = Arc::new(MemorySaver::new());
    evaluation.run(cases, saver).await.unwrap()
}

#[tokio::test]
async fn k9_what_a_judges_noise_explains_is_not_worse() {
    let before = scored(&[0.8, 0.6, 0.7, 0.7]).await;
    let noisy = scored(&[0.6, 0.8, 0.7, 0.6]).await.compare(&before);
    // Some cases are worse, and the mean is, by 0.025; by chance it would be off by 0.03.
    assert!(noisy.regressions().count() > 0);
    assert!(noisy.shifts[0].after < noisy.shifts[0].before);
    assert_eq!(noisy.worse(0.0).count(), 0, "{:?}", noisy.shifts);

    let worse = scored(&[0.7, 0.5, 0.5, 0.6]).await.compare(&before);
    assert_eq!(worse.worse(0.02).count(), 1, "{:?}", worse.shifts);
    // Less than the tolerance is accepted.
    assert_eq!(worse.worse(0.2).count(), 0, "{:?}", worse.shifts);
    assert_eq!(before.compare(&before).worse(0.0).count(), 0);
}

#[tokio::test]
async fn k9_two_runs_are_compared() {
    let before = run(&doubled()).await;
    let better = Evaluation::new("double", |case| async move {
        Ok(Answer::new(
            case.input.as_i64().unwrap_or_default().max(2) * 2,
        ))
    });
    let after = run(&better.scorer(exact())).await;
    let changed = after.compare(&before);
    assert_eq!(
        changed.table(),
        "case  scorer  before  after\n\
         a     exact   1.00    0.00   worse\n\
         b     exact   0.00    1.00   better\n\
         4     exact   0.00    1.00   better\n"
    );
    let worse: Vec<_> = changed.regressions().map(|change| &*change.case).collect();
    assert_eq!(worse, ["a"]);
    assert!(after.compare(&after).changes.is_empty());
}

#[tokio::test]
async fn k9_scorers_read_what_is_expected() {
    let cases = Dataset::parse(
        r#"{"id": "1", "input": "", "expected": {"city": "Paris", "tools": ["find", "pay"]}}
           {"id": "2", "input": "", "expected": ["paris", "LYON"]}"#,
    );
    let evaluation = Evaluation::new("scorers", |case| async move {
        Ok(match &*case.id {
            "1" => Answer::new(r#"{"city": "Paris", "people": 2, "tools": ["find", "pay"]}"#)
                .tools(vec![
                    ToolCall::new("c1", "find", json!({})),
                    ToolCall::new("c2", "pay", json!({})),
                ]),
            _ => Answer::new("Paris and Lyon").tools(vec![ToolCall::new("c", "find", json!({}))]),
        })
    });
    let verdict = r#"{"reason": "polite", "score": 2.0}"#;
    let evaluation = evaluation
        .scorer(contains())
        .scorer(json_subset())
        .scorer(trajectory())
        .scorer(judge(
            ScriptedModel::new([verdict, "not JSON", verdict]),
            "It is polite.",
        ))
        .concurrency(1);
    let saver = Arc::new(MemorySaver::new());
    let report = evaluation.run(cases.unwrap(), saver).await.unwrap();
    let values = |case: usize| {
        let scores = report.cases[case].scores.iter();
        scores
            .map(|(name, score)| (&**name, score.value))
            .collect::<Vec<_>>()
    };
    let all = ["contains", "json_subset", "judge", "trajectory"];
    let expect = |values: [f64; 4]| all.into_iter().zip(values).collect::<Vec<_>>();
    assert_eq!(values(0), expect([0.0, 1.0, 1.0, 1.0]));
    assert_eq!(values(1), expect([1.0, 0.0, 1.0, 0.0]));
    assert_eq!(
        report.cases[1].scores["trajectory"].reason.as_deref(),
        Some("called find, expected ")
    );
    assert_eq!(
        report.cases[1].scores["judge"].reason.as_deref(),
        Some("polite")
    );
}

#[test]
fn a_line_that_is_no_case_is_named() {
    let error = Dataset::parse("{\"input\": 1}\n\n{\"inputs\": 1}").unwrap_err();
    assert!(
        error.to_string().starts_with("line 3 of the data set"),
        "{error}"
    );
    let twice = "{\"id\": \"a\", \"input\": 1}\n{\"id\": \"a\", \"input\": 1}";
    let error = Dataset::parse(twice).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 2 of the data set has the id `a` of another case"
    );
    let tagged = Dataset::parse(CASES).unwrap().tagged("large");
    assert_eq!(tagged.cases().len(), 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.jsonl");
    std::fs::write(&file, CASES).unwrap();
    assert_eq!(
        Dataset::read(&file).unwrap(),
        Dataset::parse(CASES).unwrap()
    );
}
