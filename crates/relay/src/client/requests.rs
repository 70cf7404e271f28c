//! The requests that an agent answers.

use std::collections::VecDeque;
use std::sync::Arc;

use langgraph_remote::{AgentEnvelope, AgentId, EnvelopeBody, ErrorCode, Frame, RequestId};

use super::answers::{Begin, Key};
use super::pieces::{Assembled, PieceAssembler};
use super::state::ClientCore;
use super::work::{answer, work_silently};

/// How many requests in pieces are incomplete at a time, of all requesters and of one.
const INCOMPLETE: usize = 16;
const INCOMPLETE_OF_ONE: usize = 4;

/// Begins the work on a request, or repeats its reply.
pub(crate) fn request_arrived(
    client: &Arc<ClientCore>,
    request: AgentEnvelope,
    from_part: u64,
    run: Option<&str>,
) {
    let Some(id) = request.request_id.clone() else {
        return notification_arrived(client, request);
    };
    let key: Key = (request.from.clone(), id);
    let refuse = |code: ErrorCode, message: String| {
        let body = EnvelopeBody::error(code, message);
        if let Ok(text) = Frame::reply(request.reply(body)).to_json() {
            client.note(text);
        }
    };
    match &request.body {
        EnvelopeBody::Cancel => return client.state().answers.cancel(&key),
        EnvelopeBody::Complete(_) | EnvelopeBody::Resume(_) => {}
        EnvelopeBody::StreamStart { .. }
        | EnvelopeBody::StreamChunk { .. }
        | EnvelopeBody::StreamEnd { .. } => {
            return match add_piece(client, &key, request.clone()) {
                Assembled::Whole(whole) => request_arrived(client, *whole, from_part, run),
                Assembled::Failed(why) => refuse(ErrorCode::BadRequest, why),
                // A piece without its start is dropped; the requester repeats all of them.
                Assembled::Incomplete | Assembled::Other(_) => {}
            };
        }
        _ => return,
    }
    let begin = client.state().answers.begin(&key, from_part, run);
    match begin {
        Begin::Repeated => client.wake.notify_one(),
        Begin::Refused(code, message) => refuse(code, message.to_owned()),
        Begin::Run => {
            let work = tokio::spawn(answer(Arc::clone(client), key.clone(), request));
            client.state().answers.working(&key, work.abort_handle());
        }
    }
}

/// Begins the work on a request without an id, which has no reply. It counts like any other.
fn notification_arrived(client: &Arc<ClientCore>, request: AgentEnvelope) {
    if !matches!(request.body, EnvelopeBody::Complete(_)) {
        return;
    }
    let key: Key = (request.from.clone(), RequestId::generate());
    if client.state().answers.begin_silently(&key) {
        let work = tokio::spawn(work_silently(Arc::clone(client), key.clone(), request));
        client.state().answers.working(&key, work.abort_handle());
    }
}

/// Adds a piece to its request.
fn add_piece(client: &ClientCore, key: &Key, piece: AgentEnvelope) -> Assembled {
    let most = client.options.max_message;
    let mut state = client.state();
    let index = state.incomplete.iter().position(|(known, _)| known == key);
    let mut pieces = index.and_then(|index| state.incomplete.remove(index)?.1);
    let assembled = PieceAssembler::push(&mut pieces, piece, true, most);
    if pieces.is_some() {
        make_room(&mut state.incomplete, &key.0);
        state.incomplete.push_back((key.clone(), pieces));
    }
    assembled
}

/// Drops an incomplete request if there are too many: the oldest of this requester if it has its share, and
/// otherwise of the requester with the most.
fn make_room<T>(incomplete: &mut VecDeque<(Key, T)>, requester: &AgentId) {
    let count = |id: &AgentId| incomplete.iter().filter(|((of, _), _)| of == id).count();
    let crowded = if count(requester) >= INCOMPLETE_OF_ONE {
        Some(requester.clone())
    } else if incomplete.len() >= INCOMPLETE {
        let requesters = incomplete.iter().map(|((of, _), _)| of);
        requesters.max_by_key(|id| count(id)).cloned()
    } else {
        None
    };
    let oldest = crowded.and_then(|id| incomplete.iter().position(|((of, _), _)| *of == id));
    if let Some(oldest) = oldest {
        incomplete.remove(oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requester_with_many_pieces_drops_its_own() {
        let mut incomplete = VecDeque::new();
        let mut begin = |requester: &str, number: usize| {
            let requester = AgentId::new(requester);
            make_room(&mut incomplete, &requester);
            let id = RequestId::new(format!("{requester}-{number}"));
            incomplete.push_back(((requester, id), ()));
            incomplete
                .iter()
                .filter(|((of, _), ())| of.as_str() == "calm")
                .count()
        };
        assert_eq!(begin("calm", 0), 1);
        for number in 0..1_000 {
            assert_eq!(begin("flood", number), 1);
        }
        // Many requesters make room for each other, and the one with the fewest keeps its own.
        for number in 0..1_000 {
            begin(&format!("flood-{}", number % 4), number);
        }
        assert_eq!(begin("calm", 1), 2);
    }
}
