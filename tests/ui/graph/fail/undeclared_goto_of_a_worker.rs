use langgraph::graph::worker;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
struct Docs {
    docs: Vec<String>,
    #[reducer(append)]
    notes: Vec<String>,
}

#[node]
async fn grade(doc: String, _: &Docs) -> Result<(DocsUpdate, Next), NodeError> {
    Ok((DocsUpdate::default().notes(vec![doc]), Next::End))
}

async fn score(_: String) -> Command<Docs> {
    Command::goto("done")
}

struct Judge;

#[node]
impl Judge {
    async fn run(&self, _: String, _: &Docs) -> Command<Docs> {
        Command::goto("done")
    }
}

// It names no targets, so it needs no line.
#[node]
async fn note(doc: String) -> DocsUpdate {
    DocsUpdate::default().notes(vec![doc])
}

#[node]
async fn done(_: &Docs) {}

fn docs(docs: &Docs) -> Vec<String> {
    docs.docs.clone()
}

fn main() {
    let judge = Judge;
    let _ = graph! {
        START => for doc in docs { grade(doc) } => done => END;
        START => for doc in docs { score(doc) } => done;
        START => for doc in docs { judge(doc) } => done;
        START => for doc in docs { note(doc) } => done;
    };

    let judge = Judge;
    let _ = graph! {
        let grade = worker(grade).retry(3);
        let note = worker(note).retry(3);
        let judge = worker(judge).anywhere();

        START => for doc in docs { grade(doc) } => done => END;
        START => for doc in docs { judge(doc) } => done;
        START => for doc in docs { note(doc) } => done;
    };

    let judge = Judge;
    let _ = graph! {
        let judge = worker(judge).anywhere();

        START => for doc in docs { grade(doc) } => done => END;
        START => for doc in docs { score(doc) } => done;
        START => for doc in docs { judge(doc) } => done;
        grade => goto [END];
        score => goto [done];
        judge => goto [done];
    };
}
