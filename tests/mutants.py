#!/usr/bin/env python3
"""Plants defects into the code, one at a time, and looks whether the simulation of the servers finds each.

    tests/mutants.py                       # all of them; each takes a build, and then up to SEEDS seeds
    tests/mutants.py once_forgotten …      # some
    SEEDS=10000 tests/mutants.py           # how many seeds each may take; the default is 2,000

The defects are planted into a copy in the target folder. A seed counts as one that finds a defect if the program with
the defect fails it twice in the same way, and the program without a defect passes it. The last line is `N planted, M
found`; the exit status is 1 if one was not found, or cannot be planted because the code has changed.
"""

import fcntl
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "mutants"
TREE = TARGET / "tree"
UNPLANTED = TARGET / "unplanted"
SEEDS = int(os.environ.get("SEEDS", "2000"))

# How many seeds one process plays, and after how many seconds it hangs: a hundred take fifteen seconds on two cores.
PART = 100
PATIENCE = 600

SERVER = "crates/server/src/"
SQLITE = "crates/sqlite/src/"
RUNTIME = "langgraph/src/"
NATS = "crates/nats/src/"

# The name, the file, what stands there and what is planted; further pairs where a second check would hold the defect,
# of another file if its path comes before them.
MUTANTS = [
    # The queue.
    ("living_runs_are_taken", SERVER + "rows/queue.rs", "AND lease < {NOW} \\", "AND lease < {NOW} + 2500 \\"),
    ("leases_are_not_renewed", SERVER + "rows/queue.rs",
     "SET lease = {NOW} + $2 WHERE worker", "SET lease = lease + 0 * $2 WHERE worker"),
    ("one_loss_gives_a_run_up", SERVER + "runs/lease.rs", "const ATTEMPTS: i64 = 3;", "const ATTEMPTS: i64 = 1;"),
    ("a_put_back_run_waits_its_turn", SERVER + "rows/lanes.rs",
     "AND base IS NOT NULL LIMIT 1", "AND base IS NOT NULL AND 1 = 0 LIMIT 1"),
    ("the_run_of_a_cron_has_no_name", SERVER + "crons.rs",
     "    let accepted = match cron", "    request.request_key = None;\n    let accepted = match cron"),
    ("a_cron_that_cannot_start_is_left_out", SERVER + "crons.rs",
     "Err(error) if error.may_work_later() =>", "Err(error) if false && error.may_work_later() =>"),
    ("living_processes_count_as_gone", "crates/sql/src/process.rs",
     "!environment::is_running(number)", "environment::is_running(number)"),
    ("a_request_is_not_known_again", SERVER + "runs/accept.rs",
     "            Some((_, run)) => Some(run),\n", "            Some((_, run)) => Some(run).filter(|_| false),\n"),
    ("a_cancelled_run_is_not_rolled_back", SERVER + "runs/finish.rs",
     "is_cancelled && live.action()", "is_cancelled && false && live.action()"),
    ("a_rollback_keeps_the_state", SERVER + "runs/finish.rs",
     "    before.restore(&*saver, thread).await?;\n", "    drop(saver);\n"),
    ("the_base_of_a_rollback_moves", SERVER + "rows/base.rs", "base = coalesce(base, $2)", "base = $2"),
    ("an_answer_is_given_again", SERVER + "runs/begin.rs",
     "base.checkpoint == now.checkpoint &&", "false && base.checkpoint == now.checkpoint &&"),
    ("a_removed_thread_comes_back", SERVER + "runs/change.rs",
     "if !fits(&row.ok_or_else(|| ApiError::no_thread(&id))?) {", "if row.is_some_and(|row| !fits(&row)) {"),
    ("a_run_that_was_put_back_is_withdrawn", SERVER + "rows/queue.rs",
     "AND status = 'pending' AND base IS NULL RETURNING", "AND status = 'pending' RETURNING"),
    ("a_run_stops_none_before_it", SERVER + "runs/submit.rs",
     "    stop(app, before.unwrap_or_default(), action).await\n",
     "    stop(app, before.filter(|_| false).unwrap_or_default(), action).await\n"),
    # Events and webhooks.
    ("events_begin_anew_at_each_attempt", SERVER + "runs/begin.rs",
     "            load(&self.app, feed).await?;\n", "",
     SERVER + "runs/execute.rs",
     "last_event(app, &claim.run).await\n", "last_event(app, &claim.run).await.map(|last| last.filter(|_| false))\n"),
    ("events_of_others_are_not_read", SERVER + "runs/signals.rs",
     "Some(feed) => catch_up(app, &feed).await,", "Some(_) => Ok(()),",
     "if !feed.is_local() && feed.is_open() {", "if false && !feed.is_local() && feed.is_open() {"),
    ("records_do_not_wait_for_events", SERVER + "stream/ordered_saver.rs",
     "is_done_once(&batch) || self", "is_done_once(&batch) || true || self"),
    ("the_last_event_is_sent_again", SERVER + "encode/v1.rs",
     "None => self.event.saturating_add(1),", "None => self.event,",
     "self.frames.is_none_or(|frames| part < frames)", "self.frames.is_some_and(|frames| part < frames)"),
    ("an_event_is_left_out", SERVER + "encode/v1.rs",
     "None => self.event.saturating_add(1),", "None => self.event.saturating_add(2),"),
    ("the_stream_of_a_thread_repeats_an_event", SERVER + "encode/v1.rs", "(number > after)", "(number >= after)"),
    ("a_webhook_says_something_else", SERVER + "runs/finish.rs",
     "let notice = app.webhooks.notice(row, \"interrupted\", &result);",
     "let notice = app.webhooks.notice(row, \"success\", &result);"),
    ("a_webhook_is_not_kept", SERVER + "rows/ending.rs",
     "if let Some(notice) = ending.notice {", "if let Some(notice) = ending.notice.filter(|_| false) {"),
    ("a_webhook_is_forgotten_before_it_is_sent", SERVER + "runs/deliver.rs",
     "    let sent = tokio::time::timeout(TIME,",
     "    let _ = app.rows.remove(&outgoing.id).await;\n    let sent = tokio::time::timeout(TIME,"),
    # Threads.
    ("a_copy_says_what_was_before_its_run", SERVER + "routes/threads.rs",
     "copied.filter(|_| !is_at_rest)", "copied.filter(|_| !is_at_rest && false)"),
    ("a_cron_outlives_its_thread", SERVER + "rows/removal.rs",
     "\"DELETE FROM served_crons WHERE thread = $1 AND", "\"DELETE FROM served_crons WHERE thread = $1 AND 1 = 0 AND"),
    ("a_stale_head_is_taken", SQLITE + "saver/put.rs", "(found == head).then_some(log)", "(found == head || true).then_some(log)"),
    ("a_lost_lease_is_not_noticed", SQLITE + "saver.rs",
     "&& !leases::has(connection, &log, &holder)?", "&& false && !leases::has(connection, &log, &holder)?"),
    ("work_begins_without_a_lease", SQLITE + "saver.rs",
     "let Some(holder) = self.holder.clone() else {\n            return Ok(());",
     "let Some(holder) = self.holder.clone().filter(|_| false) else {\n            return Ok(());"),
    ("once_is_not_stored", RUNTIME + "node/once.rs",
     "        let name = &record.key;\n        let runtime",
     "        if !record.key.is_empty() {\n            return Ok(());\n        }\n        let name = &record.key;\n        let runtime"),
    ("once_is_stored_behind", RUNTIME + "node/once.rs",
     "        let stored = stored.await.map_err(CheckpointError::storage).flatten();\n        stored.map_err",
     "        drop(stored);\n        let stored: Result<(), CheckpointError> = Ok(());\n        stored.map_err"),
    ("once_is_forgotten", RUNTIME + "node/context/interrupts.rs",
     "OnceMemory::new(once.to_vec())", "OnceMemory::new(once.get(..0).unwrap_or_default().to_vec())"),
    ("an_answer_is_not_stored", RUNTIME + "record/recorder.rs",
     "    pub(crate) fn keep_answers(&mut self, task: usize, answers: Vec<Answer>) {\n",
     "    pub(crate) fn keep_answers(&mut self, task: usize, answers: Vec<Answer>) {\n        if !answers.is_empty() {\n            return;\n        }\n"),
    ("a_commands_update_is_not_stored", RUNTIME + "record/recorder.rs",
     "if writes.is_empty() && tasks.is_empty() {", "if !writes.is_empty() || tasks.is_empty() {"),
    ("a_write_counts_as_stored_when_it_failed", "langgraph/src/log/log_head.rs",
     "        stored.map_err(|error| end.failed(error))?;\n", "        let _ = stored.map_err(|error| end.failed(error));\n"),
    # The queue of workers.
    ("a_lost_task_is_not_given_out_again", NATS + "driver/workers.rs",
     "        for task in lost {\n            self.requeue(task);\n        }\n", "        drop(lost);\n"),
    ("the_reply_of_any_worker_counts", NATS + "driver/tasks.rs",
     "if self.has(worker, task)\n            && let", "if self.tasks.contains_key(&task)\n            && let"),
    ("a_reply_goes_to_another_task", NATS + "driver/tasks.rs",
     "&& let Some(task) = self.remove(task)\n", "&& let Some(task) = self.remove(task ^ 1)\n"),
    ("a_forged_reply_deletes_an_object", NATS + "driver/tasks.rs",
     "&& *name != Objects::reply(", "&& false && *name != Objects::reply("),
    ("a_state_counts_as_stored_while_it_is_uploaded", NATS + "driver/states.rs",
     "                ended.get_or_try_init(put).await?;\n",
     "                if Arc::strong_count(&ended) <= 2 {\n                    ended.get_or_try_init(put).await?;\n                }\n"),
]


def run(command, **options):
    return subprocess.run(command, cwd=TREE, text=True, capture_output=True, **options)


def copy_tree():
    """Copies what git knows of; files that have not changed keep their times, so that little is built anew."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, copy = ROOT / name, TREE / name
        if not source.is_file():
            continue
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


def build():
    """Builds the simulation, and returns its program; `None` and why not."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET / "target"), "CARGO_PROFILE_DEV_DEBUG": "false"}
    command = ["cargo", "test", "--quiet", "-p", "langgraph-simulation", "--test", "simulation", "--no-run"]
    built = run([*command, "--message-format", "json"], env=environment)
    if built.returncode != 0:
        return None, run(command, env=environment).stderr
    programs = re.findall(r'"executable":"([^"]*/simulation-[^"]*)"', built.stdout)
    return programs[-1], ""


def play(program, **seeds):
    """Plays seeds until one breaks a promise. Returns that seed, if it is known, and what was broken, or nothing."""
    environment = os.environ | {name: str(value) for name, value in seeds.items()}
    try:
        played = subprocess.run([program, "servers_keep", "--nocapture"], cwd=TREE, env=environment, text=True,
                                errors="replace", capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None, "it does not end"
    broken = re.search(r"^seed (\d+) \(again.*?\): (.*)$", played.stdout + played.stderr, re.M)
    if broken:
        return int(broken[1]), broken[2][:300]
    return None, "" if played.returncode == 0 else f"it ends with {played.returncode}"


def find(program):
    """Plays seeds until one finds the defect. Returns whether one has, and what is to be said of it."""
    notes = []
    first = 0
    while first < SEEDS:
        part = {"FIRST": first, "SEEDS": min(first + PART, SEEDS)}
        seed, broken = play(program, **part)
        first = part["SEEDS"] if seed is None else seed + 1
        if not broken:
            continue
        again = part if seed is None else {"SEED": seed}
        name = " ".join(f"{key}={value}" for key, value in again.items())
        if play(UNPLANTED, **again)[1]:
            notes.append(f"{name} does not count: it fails without the defect")
        elif play(program, **again)[1] != broken:
            notes.append(f"{name} does not count: it ends in another way when it is played again")
        else:
            return True, "; ".join([f"{name}: {broken}", *notes])
    return False, "; ".join(notes)


def edits(words):
    """Returns the edits of a defect: file, what stands there, what is planted."""
    path, found = None, []
    while words:
        if words[0].endswith(".rs"):
            path, *words = words
        old, new, *words = words
        found.append((TREE / path, old, new))
    return found


def plant(words):
    """Plants a defect, builds, and takes it out again. Returns the program; `None` and why not."""
    found = edits(words)
    texts = {file: file.read_text() for file, _, _ in found}
    planted = dict(texts)
    for file, old, new in found:
        if old not in texts[file]:
            return None, f"CANNOT BE PLANTED: {file.relative_to(TREE)} has changed"
        planted[file] = planted[file].replace(old, new)
    try:
        for file, text in planted.items():
            file.write_text(text)
        program, error = build()
    finally:
        for file, text in texts.items():
            file.write_text(text)
    if not program:
        return None, f"DOES NOT COMPILE\n{error}"
    if filecmp.cmp(program, UNPLANTED, shallow=False):
        return None, "IS NOT IN THE PROGRAM"
    return program, ""


def prepare():
    """Builds the program without a defect, and plays a part of the seeds with it."""
    TREE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    program, error = build()
    if not program:
        sys.exit(f"without a defect: {error}")
    shutil.copy(program, UNPLANTED)
    seed, broken = play(UNPLANTED, SEEDS=PART)
    if broken:
        sys.exit(f"without a defect: SEED={seed}: {broken}")


def look_for(name, *words):
    """Plants a defect and looks for it. Returns true if it was found."""
    begun = time.time()
    program, error = plant(words)
    if not program:
        print(f"{name:45} {error}", flush=True)
        return False
    built = time.time()
    is_found, what = find(program)
    verdict = "found in" if is_found else "NOT FOUND in"
    print(f"{name:45} {verdict} {time.time() - built:4.0f} s, built in {built - begun:3.0f} s. {what}", flush=True)
    return is_found


def main():
    wanted = sys.argv[1:]
    chosen = [mutant for mutant in MUTANTS if not wanted or mutant[0] in wanted]
    TARGET.mkdir(parents=True, exist_ok=True)
    with open(TARGET / "lock", "w") as lock:
        # Two at a time would build each other's defects.
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare()
        found = sum(look_for(*mutant) for mutant in chosen)
    print(f"{len(chosen)} planted, {found} found")
    sys.exit(found < len(chosen))


if __name__ == "__main__":
    main()
