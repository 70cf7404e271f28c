use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(append)]
    log: Vec<String>,
}

#[node]
async fn write(item: String, _: &Notes) -> NotesUpdate {
    NotesUpdate::default().log(vec![item])
}

fn items(notes: &Notes) -> Vec<String> {
    notes.log.clone()
}

fn main() {
    let _ = graph! {
        type State = Notes;
        let write = write.retry(3);

        START => for item in items { write(item) } => END;
    };
}
