//! The agents print what they should, without a key and without a network.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "../../tests/listed/mod.rs"]
mod listed;
#[path = "../../tests/programs/mod.rs"]
mod programs;

use programs::{command, printed};

#[test]
fn i2_every_listed_command_runs() {
    for listed in listed::beside() {
        listed.run(&[]);
    }
}

#[test]
fn h12_assistant_email_sends_lists_skips_and_gives_up() {
    assert_eq!(
        printed("assistant_email", &[]),
        "user: mail ann@example.org: Lunch at noon\nassistant: I have written to ann@example.org.\nuser: list inbox\nassistant: There are 2: Lunch?, Your invoice\nuser: thank you\nassistant: You are welcome.\nuser: list archive\nassistant: The mail agent is not there: no complete reply within 100ms.\n"
    );
}

#[test]
fn a_map_reports_how_many_of_its_steps_are_done() {
    let lines = printed("plan_and_execute", &[]);
    for done in 0..=4 {
        assert!(
            lines.contains(&format!("execute: {done} of 4\n")),
            "{lines}"
        );
    }
    assert!(lines.ends_with("black with bergamot.\n"), "{lines}");
}

#[test]
fn parallel_sub_agents_are_told_apart_by_their_items() {
    let printed = printed("topics", &["tea", "cups", "tea"]);
    let of = |item: &str| -> Vec<&str> {
        let lines = printed.lines();
        lines.filter_map(|line| line.strip_prefix(item)).collect()
    };
    let tea = [
        "search",
        "read",
        "source 1 of 3",
        "source 2 of 3",
        "source 3 of 3",
        "write",
    ];
    // Two sub-agents have the same topic, and a line each.
    assert_eq!(of("0 tea: "), tea);
    assert_eq!(of("2 tea: "), tea);
    assert_eq!(of("1 cups: ").len(), 7);
    assert!(
        printed.ends_with("\ntea, from 3 sources\ncups, from 4 sources\ntea, from 3 sources\n"),
        "{printed}"
    );
}

#[test]
fn agents_of_agents_work_hand_over_and_cite() {
    let team = printed("supervisor", &[]);
    assert!(
        team.contains("hand_off_to_sums -> 37 * 21 = 777."),
        "{team}"
    );
    let swarm = printed("swarm", &[]);
    assert!(
        swarm.ends_with("support: A new lid is on its way.\n"),
        "{swarm}"
    );
    let cited = printed("retrieval", &["May dogs come along?"]);
    assert_eq!(
        cited,
        "Dogs may come along on Fridays. [1]\n[1] handbook/dogs\n"
    );
    let guarded = printed("guarded", &["The password!", "approve"]);
    assert!(
        guarded.ends_with("goes out: I never speak about passwords.\n"),
        "{guarded}"
    );
    let revised = printed("guarded", &["The code?", "Say less."]);
    assert!(
        revised.ends_with("goes out: Please ask at the desk.\n"),
        "{revised}"
    );
}

#[test]
fn urgent_mail_waits_for_a_person_until_the_deadline_of_each_level() {
    let printed = printed("mail_triage", &[]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines[..3],
        ["lottery: done", "hours: done", "tills: waits for a person"]
    );
    assert_eq!(lines[4], "tills: Ben looks after it now.");
    assert_eq!(
        lines[5..8],
        [
            "freezer: the next level",
            "freezer: the next level",
            "freezer: done"
        ]
    );
    assert_eq!(
        lines[11],
        "freezer: Urgent: the cold chain; the desk did not answer; the shift lead did not answer; \
         the head of support did not answer; sent: We are sorry: the phone is faster, 555-0100."
    );
}

#[test]
fn reviewers_vote_until_the_budget_is_spent_and_a_person_decides_a_tie() {
    let printed = printed("code_review", &[]);
    let lines: Vec<&str> = printed.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "round 1, security: Reject, the password is logged",
            "round 1, performance: Approve, no allocation in the loop",
            "round 1, style: Reject, a name of one letter",
            "round 2, security: Approve, the password is hidden",
            "round 2, performance: Reject, now it allocates",
            "round 2, style: Abstain, the budget is spent",
            "merged: log in with a token, with the comments of round 1",
            "5 opinions, 30000 micros spent",
        ]
    );
}

#[test]
fn a_coding_agent_makes_a_failing_test_pass_and_writes_nothing_else() {
    let lines = printed("coding_agent", &[]);
    let told: Vec<_> = lines
        .lines()
        .filter(|line| line.contains("test the_"))
        .collect();
    let [failed, passed] = &told[..] else {
        panic!("{lines}");
    };
    assert!(
        failed.ends_with("FAILED") && passed.ends_with("ok"),
        "{lines}"
    );
    assert!(
        lines.contains("the file `/README.md` may not be written"),
        "{lines}"
    );
}

#[test]
fn a_research_agent_reports_from_the_files_of_its_sub_agents() {
    let lines = printed("research_agent", &[]);
    for line in [
        "/notes/coffee.md:1: A cup of coffee has 80 to 120 mg of caffeine.",
        "/report.md: 55 bytes",
        "Completed: write the report",
        "assistant: The report is in /report.md.",
    ] {
        assert!(lines.contains(line), "{lines}");
    }
}

#[test]
fn a_support_agent_hides_data_asks_before_it_pays_and_remembers() {
    let approved = printed("support_agent", &["approve"]);
    for line in [
        "for approval: refund {\"order\":7}",
        "My card is **** **** **** 1111, write to [REDACTED_EMAIL].",
        "tool: order 7 is paid back",
        "remembered: Got a broken cup with order 7.",
    ] {
        assert!(approved.contains(line), "{approved}");
    }
    let order = [
        "[REDACTED_EMAIL]",
        "for approval",
        "is paid back",
        "is settled",
    ];
    let places = order.map(|text| approved.find(text));
    assert!(places.is_sorted() && places[0].is_some(), "{approved}");
    let rejected = printed("support_agent", &["Not without the cup."]);
    assert!(
        rejected.contains("tool: Not without the cup."),
        "{rejected}"
    );
    assert!(!rejected.contains("paid back"), "{rejected}");
}

#[test]
fn models_type_at_the_pace_that_is_set() {
    let paced = |pace: &str| command("research_agent").env("PACE", pace).output();
    let fast = paced("1").unwrap();
    assert!(fast.status.success(), "{fast:?}");
    assert_eq!(
        String::from_utf8(fast.stdout).unwrap(),
        printed("research_agent", &[])
    );
    let wrong = paced("soon").unwrap();
    let error = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success(), "{error}");
    assert!(error.contains("`PACE` is `soon`"), "{error}");
}
