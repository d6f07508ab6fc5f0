//! Filters as SQL: the only conditions on sessions in the program.
//!
//! Text that a user typed is bound, never formatted into a statement, and never meets LIKE.
//! What SQLite cannot say (case in every script, path components) are the functions that
//! `store::text` registers. A column that an older store lacks reads as NULL.

use rusqlite::types::Value as Sql;

use crate::filter::{Archived, Column, Condition, Filter, State, Test};

/// A statement's conditions and the values to bind to them, in order.
#[derive(Debug, PartialEq)]
pub(super) struct Where {
    pub(super) sql: String,
    pub(super) values: Vec<Sql>,
}

/// Compiles a filter. `has` says whether the store has a column.
pub(super) fn compile(filter: &Filter, has: &dyn Fn(&str) -> bool) -> Where {
    let mut compiled = Where { sql: "1".to_owned(), values: Vec::new() };
    for Test { column, condition } in &filter.tests {
        compiled.sql.push_str(" AND ");
        let (template, value) = predicate(condition);
        compiled.sql.push_str(&template.replace("{}", &expression(*column, has)));
        compiled.values.push(value);
    }
    if has("archived") {
        compiled.sql.push_str(match filter.archived {
            Archived::Any => "",
            Archived::Only => " AND COALESCE(archived, 0) != 0",
            Archived::Not => " AND COALESCE(archived, 0) = 0",
        });
    } else if filter.archived == Archived::Only {
        compiled.sql.push_str(" AND 0");
    }
    compiled
}

/// Whether a session that passes the conditions passes in its state, too.
pub(super) fn passes(state: State, running: bool) -> bool {
    match state {
        State::Any => true,
        State::Ended => !running,
    }
}

fn predicate(condition: &Condition) -> (&'static str, Sql) {
    let text = |s: &String| Sql::Text(s.clone());
    match condition {
        Condition::Is(s) => ("{} = ?", text(s)),
        Condition::IsFolded(s) => ("fold({}) = fold(?)", text(s)),
        Condition::Contains(s) => ("instr(fold({}), fold(?)) > 0", text(s)),
        Condition::Tagged(s) => ("is_tagged({}, ?)", text(s)),
        Condition::Under(s) => ("is_under({}, ?)", text(s)),
        Condition::AtLeast(x) => ("{} >= ?", Sql::Real(*x)),
        Condition::AtMost(x) => ("{} <= ?", Sql::Real(*x)),
        Condition::Below(x) => ("{} < ?", Sql::Real(*x)),
    }
}

/// The expression that a column of the filter stands for.
pub(super) fn expression(column: Column, has: &dyn Fn(&str) -> bool) -> String {
    let name = |name: &'static str| if has(name) { name } else { "NULL" };
    let count = |column| format!("COALESCE({}, 0)", name(column));
    match column {
        Column::Id => "id".to_owned(),
        Column::Source => name("source").to_owned(),
        Column::Title => name("title").to_owned(),
        Column::Model => name("model").to_owned(),
        Column::Provider => name("billing_provider").to_owned(),
        Column::Cwd => name("cwd").to_owned(),
        Column::Branch => name("git_branch").to_owned(),
        Column::Workspace => {
            format!("COALESCE(NULLIF(trim({}), ''), {})", name("git_repo_root"), name("cwd"))
        }
        Column::EndReason => name("end_reason").to_owned(),
        Column::User => name("user_id").to_owned(),
        Column::ChatId => name("chat_id").to_owned(),
        Column::ChatType => name("chat_type").to_owned(),
        Column::StartedAt => number(name("started_at")),
        Column::LastActive => {
            let last = "(SELECT max(timestamp) FROM messages WHERE session_id = sessions.id)";
            let start = number(name("started_at"));
            format!("max(COALESCE({last}, {start}), {start})")
        }
        Column::Messages => count("message_count"),
        Column::ToolCalls => count("tool_call_count"),
        Column::Tokens => format!("({} + {})", count("input_tokens"), count("output_tokens")),
        Column::Cost => {
            format!("COALESCE({}, {}, 0)", name("actual_cost_usd"), name("estimated_cost_usd"))
        }
    }
}

/// A time, or NULL: text would be later than every number.
fn number(column: &str) -> String {
    format!("CASE WHEN typeof({column}) IN ('integer', 'real') THEN {column} END")
}

#[cfg(test)]
mod tests {
    use super::{Where, compile};
    use crate::filter::{Archived, Column, Condition, Filter, State, Test};

    fn compiled(column: Column, condition: Condition) -> Where {
        let filter = Filter {
            tests: vec![Test { column, condition }],
            said: Vec::new(),
            excluded: Vec::new(),
            state: State::Ended,
            archived: Archived::Any,
        };
        compile(&filter, &|name| name != "actual_cost_usd")
    }

    #[test]
    fn values_are_bound_and_never_part_of_the_statement() {
        let hostile = "x' OR 1=1 --%_".to_owned();
        for condition in [
            Condition::Is(hostile.clone()),
            Condition::IsFolded(hostile.clone()),
            Condition::Contains(hostile.clone()),
            Condition::Under(hostile.clone()),
        ] {
            let query = compiled(Column::Title, condition);
            assert!(!query.sql.contains("OR 1=1"), "{}", query.sql);
            assert_eq!(query.values.len(), 1);
        }
    }

    #[test]
    fn a_column_that_the_store_lacks_reads_as_null() {
        let query = compiled(Column::Cost, Condition::AtLeast(0.5));
        assert_eq!(query.sql, "1 AND COALESCE(NULL, estimated_cost_usd, 0) >= ?");
    }

    #[test]
    fn sums_and_bounds_read_as_they_should() {
        let query = compiled(Column::Tokens, Condition::AtMost(10.0));
        assert_eq!(
            query.sql,
            "1 AND (COALESCE(input_tokens, 0) + COALESCE(output_tokens, 0)) <= ?"
        );
    }
}
