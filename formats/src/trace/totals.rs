//! What a session came to: tokens, cost and time, in Claude Code's `result` line.

use serde::Serialize;
use uuid::Uuid;

use super::line::Usage;
use super::thread::namespace;
use crate::SessionHead;
use crate::model::SessionColumn;

/// The session's totals.
#[derive(Debug, Serialize)]
pub(super) struct Totals {
    r#type: &'static str,
    session_id: String,
    uuid: Uuid,
    #[serde(skip_serializing_if = "Usage::is_empty")]
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<i64>,
}

impl Totals {
    pub(super) fn of(head: &SessionHead<'_>) -> Self {
        let session = head.session;
        let count = |column| session.integer(column).filter(|count| *count > 0);
        let costs = [SessionColumn::ActualCost, SessionColumn::EstimatedCost];
        Self {
            r#type: "result",
            session_id: session.id().to_owned(),
            uuid: Uuid::new_v5(&namespace(session), b"result"),
            usage: Usage {
                input_tokens: count(SessionColumn::InputTokens),
                output_tokens: count(SessionColumn::OutputTokens),
                cache_creation_input_tokens: count(SessionColumn::CacheWriteTokens),
                cache_read_input_tokens: count(SessionColumn::CacheReadTokens),
            },
            total_cost_usd: costs.into_iter().find_map(|column| session.number(column)),
            duration_ms: duration(head),
        }
    }
}

/// From the start to the end, or to the last message of a session that runs.
fn duration(head: &SessionHead<'_>) -> Option<i64> {
    let start = head.session.number(SessionColumn::StartedAt)?;
    let end = head.session.number(SessionColumn::EndedAt).or(head.last_active)?;
    let millis = ((end - start) * 1000.0).round();
    #[expect(clippy::cast_possible_truncation, reason = "within 300 million years")]
    (0.0..=1e19).contains(&millis).then_some(millis as i64)
}
