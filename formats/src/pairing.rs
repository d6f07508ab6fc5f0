//! Which tool result answers which call, for formats that need every call to have an id.
//!
//! Providers leave ids out or use them again in the next turn, and sessions break off between a
//! call and its result. So the newest call with the result's id is meant; without an id, the first
//! of the last turn with the tool's name.

use std::collections::VecDeque;

use crate::content::ToolCall;
use crate::model::{Message, MessageColumn};

/// Calls that are remembered while they wait; a session of nothing but calls must not fill the memory.
const WAITING: usize = 1000;

/// Calls that wait for their results, each with what its format needs to know of it.
pub(crate) struct Pairing<M> {
    waiting: VecDeque<Call<M>>,
    turn: u64,
}

/// A call that has an id.
pub(crate) struct Call<M> {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) mark: M,
    turn: u64,
}

impl<M> Default for Pairing<M> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), turn: 0 }
    }
}

impl<M: Copy> Pairing<M> {
    /// Takes the calls of one message, whose row is `row`, and gives each call's id.
    pub(crate) fn ask(&mut self, calls: &[ToolCall], row: &str, mark: M) -> Vec<String> {
        self.turn += 1;
        let mut ids = Vec::with_capacity(calls.len());
        for (n, call) in (1..).zip(calls) {
            let given = call.id.clone().filter(|id| !id.is_empty());
            let id = given.unwrap_or_else(|| format!("call_{row}_{n}"));
            ids.push(id.clone());
            let name = call.name.clone();
            self.waiting.push_back(Call { id, name, mark, turn: self.turn });
        }
        let surplus = self.waiting.len().saturating_sub(WAITING);
        self.waiting.drain(..surplus);
        ids
    }

    /// The call that a tool message answers.
    pub(crate) fn answered(&mut self, result: &Message<'_>) -> Option<Call<M>> {
        let at = if let Some(id) = result.text(MessageColumn::ToolCallId) {
            self.waiting.iter().rposition(|call| call.id == id)
        } else {
            let name = result.text(MessageColumn::ToolName)?;
            let fits = |call: &Call<M>| call.turn == self.turn && call.name == name;
            self.waiting.iter().position(fits)
        };
        self.waiting.remove(at?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Pairing, WAITING};
    use crate::content::ToolCall;
    use crate::model::{Message, MessageColumn};
    use crate::testing::{message, text};

    fn call(id: &str, name: &str) -> ToolCall {
        let id = (!id.is_empty()).then(|| id.to_owned());
        ToolCall { id, name: name.to_owned(), arguments: String::new() }
    }

    fn result(id: &str, name: &str) -> Message<'static> {
        let cells =
            vec![(MessageColumn::ToolCallId, text(id)), (MessageColumn::ToolName, text(name))];
        message("tool", "", cells)
    }

    fn answered(pairing: &mut Pairing<u8>, id: &str, name: &str) -> Option<(String, u8)> {
        pairing.answered(&result(id, name)).map(|call| (call.id, call.mark))
    }

    #[test]
    fn results_find_their_calls() {
        let mut pairing = Pairing::default();
        pairing.ask(&[call("a", "ls"), call("b", "ls")], "1", 1);
        assert_eq!(answered(&mut pairing, "b", "ls"), Some(("b".to_owned(), 1)));
        assert_eq!(answered(&mut pairing, "b", "ls"), None, "a call is answered once");
        pairing.ask(&[call("a", "ls")], "2", 2);
        assert_eq!(
            answered(&mut pairing, "a", ""),
            Some(("a".to_owned(), 2)),
            "the newest is meant"
        );
        assert_eq!(answered(&mut pairing, "a", ""), Some(("a".to_owned(), 1)));
    }

    #[test]
    fn without_an_id_the_name_counts_in_the_last_turn() {
        let mut pairing = Pairing::default();
        pairing.ask(&[call("", "ls")], "7", 1);
        let ids = pairing.ask(&[call("", "cat"), call("", "ls"), call("", "ls")], "8", 2);
        assert_eq!(ids, ["call_8_1", "call_8_2", "call_8_3"]);
        assert_eq!(answered(&mut pairing, "", "ls"), Some(("call_8_2".to_owned(), 2)));
        assert_eq!(answered(&mut pairing, "", "ls"), Some(("call_8_3".to_owned(), 2)));
        assert_eq!(answered(&mut pairing, "", "ls"), None);
        assert_eq!(answered(&mut pairing, "", ""), None);
    }

    #[test]
    fn calls_without_results_do_not_pile_up() {
        let mut pairing = Pairing::default();
        for row in 0..3 * WAITING {
            pairing.ask(&[call("", "ls")], &row.to_string(), 0);
        }
        assert_eq!(pairing.waiting.len(), WAITING);
    }
}
