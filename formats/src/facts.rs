//! What a session used, in words.

use crate::model::{Session, SessionColumn};

/// Its tokens, by kind; `None` where there are none.
pub(crate) fn tokens(session: &Session<'_>) -> Option<String> {
    let counts = [
        ("in", SessionColumn::InputTokens),
        ("out", SessionColumn::OutputTokens),
        ("read from cache", SessionColumn::CacheReadTokens),
        ("written to cache", SessionColumn::CacheWriteTokens),
        ("reasoning", SessionColumn::ReasoningTokens),
    ];
    let count = |(name, column)| match session.integer(column)? {
        0 => None,
        n => Some(format!("{n} {name}")),
    };
    let counts: Vec<String> = counts.into_iter().filter_map(count).collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}

/// What it cost, as billed and as estimated.
pub(crate) fn cost(session: &Session<'_>) -> Option<String> {
    let costs =
        [("billed", SessionColumn::ActualCost), ("estimated", SessionColumn::EstimatedCost)];
    let cost = |(name, column)| Some(format!("{} US dollars {name}", session.number(column)?));
    let costs: Vec<String> = costs.into_iter().filter_map(cost).collect();
    (!costs.is_empty()).then(|| costs.join(", "))
}
