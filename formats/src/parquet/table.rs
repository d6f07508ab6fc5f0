//! A table: every column of the store that this version knows by name, typed, and `extra`.
//!
//! Times are UTC to the microsecond, tokens and counts are whole numbers, costs US dollars, flags true or false;
//! all else is text, JSON as text. Structured content is `content_json`, and `content` is null there. `extra` is a JSON
//! object of what has no other place: columns that this version does not know, and cells that are not of their column's
//! type (a text for a number, JSON that was damaged). It is null where there is nothing of it.

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::column::{Cells, Kind};
use crate::json::write_string;
use crate::jsonl::{Style, write_value};
use crate::model::{Column, MessageColumn, Row, SessionColumn, Value};

/// Rows are written down when they are so many, or so large.
const ROWS: usize = 100_000;
const BYTES: usize = 16 << 20;

/// The columns of a table with their types.
pub(super) trait Typed: Column {
    /// The table's name.
    const TABLE: &'static str;
    fn kind(self) -> Kind;
}

impl Typed for SessionColumn {
    const TABLE: &'static str = "sessions";

    fn kind(self) -> Kind {
        match self {
            Self::StartedAt | Self::EndedAt => Kind::Time,
            Self::MessageCount
            | Self::ToolCallCount
            | Self::InputTokens
            | Self::OutputTokens
            | Self::CacheReadTokens
            | Self::CacheWriteTokens
            | Self::ReasoningTokens
            | Self::ApiCallCount => Kind::Integer,
            Self::EstimatedCost | Self::ActualCost => Kind::Real,
            Self::Archived => Kind::Flag,
            Self::ModelConfig => Kind::Json,
            _ => Kind::Text,
        }
    }
}

impl Typed for MessageColumn {
    const TABLE: &'static str = "messages";

    fn kind(self) -> Kind {
        match self {
            Self::Id | Self::TokenCount => Kind::Integer,
            Self::Timestamp => Kind::Time,
            Self::Active | Self::Compacted | Self::Observed => Kind::Flag,
            Self::ToolCalls | Self::ReasoningDetails | Self::CodexReasoningItems => Kind::Json,
            Self::Content => Kind::TextOrJson,
            _ => Kind::Text,
        }
    }
}

/// Rows on their way into one file. What is ready is handed out as bytes.
pub(super) struct Table<C> {
    writer: SerializedFileWriter<Vec<u8>>,
    /// In the order of the columns, and at last `extra`.
    columns: Vec<Cells>,
    rows: usize,
    bytes: usize,
    of: PhantomData<C>,
}

impl<C: Typed> Table<C> {
    pub(super) fn begin(provenance: Option<&'static str>) -> io::Result<Self> {
        let schema = parse_message_type(&schema::<C>()).map_err(io_error)?;
        let writer = SerializedFileWriter::new(
            Vec::new(),
            Arc::new(schema),
            Arc::new(properties(provenance)?),
        );
        Ok(Self {
            writer: writer.map_err(io_error)?,
            columns: kinds::<C>().map(Cells::new).collect(),
            rows: 0,
            bytes: 0,
            of: PhantomData,
        })
    }

    /// Takes a row.
    pub(super) fn put(&mut self, row: &Row<'_, C>) -> io::Result<()> {
        let mut extra = Vec::new();
        let mut at = 0;
        for column in C::ALL.iter().copied() {
            let value = row.value(column);
            let (text, json) = match (column.kind(), value) {
                (Kind::TextOrJson, Value::Json(_)) => (&Value::Null, Some(value)),
                (Kind::TextOrJson, _) => (value, Some(&Value::Null)),
                _ => (value, None),
            };
            for value in std::iter::once(text).chain(json) {
                match self.columns[at].put(value) {
                    Ok(bytes) => self.bytes += bytes,
                    Err(()) => add(&mut extra, column.name(), value)?,
                }
                at += 1;
            }
        }
        let is_known = |name: &str| C::ALL.iter().any(|column| column.name() == name);
        for (name, value) in row.columns().filter(|(name, _)| !is_known(name)) {
            if *value != Value::Null {
                add(&mut extra, name, value)?;
            }
        }
        self.bytes += self.columns[at].put_json(extra);
        self.rows += 1;
        Ok(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES
    }

    /// Makes a group of the rows, and hands out what the file has got since.
    pub(super) fn flush(&mut self) -> io::Result<Vec<u8>> {
        if self.rows > 0 {
            self.write_group().map_err(io_error)?;
        }
        self.writer.flush()?;
        Ok(std::mem::take(self.writer.inner_mut()))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for cells in &mut self.columns {
            let column = group.next_column()?;
            let mut column =
                column.ok_or_else(|| ParquetError::General("a column lacks".into()))?;
            cells.write(column.untyped())?;
            column.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Ends the file, and hands out the rest of it.
    pub(super) fn finish(mut self) -> io::Result<Vec<u8>> {
        let mut rest = self.flush()?;
        rest.append(&mut self.writer.into_inner().map_err(io_error)?);
        Ok(rest)
    }
}

/// The kinds of the file's columns.
fn kinds<C: Typed>() -> impl Iterator<Item = Kind> {
    let of_store = C::ALL.iter().flat_map(|column| match column.kind() {
        Kind::TextOrJson => vec![Kind::Text, Kind::Json],
        kind => vec![kind],
    });
    of_store.chain([Kind::Json])
}

fn schema<C: Typed>() -> String {
    let column = |column: &C| {
        let name = column.name();
        match column.kind() {
            Kind::TextOrJson => {
                format!(
                    "{}{}",
                    Kind::Text.declare(name),
                    Kind::Json.declare(&format!("{name}_json"))
                )
            }
            kind => kind.declare(name),
        }
    };
    let columns: String = C::ALL.iter().map(column).collect();
    format!("message {} {{\n{columns}{}}}", C::TABLE, Kind::Json.declare("extra"))
}

fn properties(provenance: Option<&'static str>) -> io::Result<WriterProperties> {
    let provenance =
        provenance.map(|text| vec![KeyValue::new("provenance".to_owned(), text.to_owned())]);
    let level = ZstdLevel::try_new(3).map_err(io_error)?;
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("hermes-sessions version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_key_value_metadata(provenance);
    // Long texts are each their own: nothing is gained by a dictionary, or by the least of them.
    for name in ["content", "content_json", "system_prompt", "reasoning", "tool_calls", "extra"] {
        let path = ColumnPath::from(name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::None);
    }
    Ok(properties.build())
}

/// Adds an entry to a JSON object that is not closed.
fn add(object: &mut Vec<u8>, name: &str, value: &Value<'_>) -> io::Result<()> {
    object.extend_from_slice(if object.is_empty() { b"{" } else { b", " });
    write_string(object, name);
    object.extend_from_slice(b": ");
    write_value(object, name, value, Style::Verbatim)
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => io::Error::other(source),
        other => io::Error::other(other),
    }
}
