//! One column: its type in the file, and the cells of the rows in hand.

use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;

use crate::model::Value;
use crate::time::is_in_calendar;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// JSON, as text.
    Json,
    /// Text, or JSON in a column of its own.
    TextOrJson,
    Integer,
    Real,
    /// 0 or 1.
    Flag,
    /// Seconds since the epoch in the store, microseconds in the file.
    Time,
}

impl Kind {
    /// The column's line in a schema.
    pub(super) fn declare(self, name: &str) -> String {
        match self {
            Self::Text | Self::Json | Self::TextOrJson => {
                format!("optional binary {name} (UTF8);\n")
            }
            Self::Integer => format!("optional int64 {name};\n"),
            Self::Real => format!("optional double {name};\n"),
            Self::Flag => format!("optional boolean {name};\n"),
            Self::Time => format!("optional int64 {name} (TIMESTAMP(MICROS,true));\n"),
        }
    }
}

/// The cells of a column.
pub(super) struct Cells {
    kind: Kind,
    /// For each row whether there is a value: 1 or 0.
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Flag(Vec<bool>),
}

impl Cells {
    pub(super) fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Text | Kind::Json | Kind::TextOrJson => Values::Text(Vec::new()),
            Kind::Integer | Kind::Time => Values::Integer(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Flag => Values::Flag(Vec::new()),
        };
        Self { kind, levels: Vec::new(), values }
    }

    /// Takes a cell, and says how many bytes that is; null instead of one of another type, which fails.
    pub(super) fn put(&mut self, value: &Value<'_>) -> Result<usize, ()> {
        let is_taken = match (&mut self.values, self.kind, value) {
            (_, _, Value::Null) => {
                self.levels.push(0);
                return Ok(size_of::<i16>());
            }
            (Values::Text(texts), Kind::Text, Value::Text(text))
            | (Values::Text(texts), Kind::Json, Value::Json(text)) => {
                texts.push(text.as_bytes().to_vec().into());
                self.levels.push(1);
                return Ok(text.len() + size_of::<ByteArray>());
            }
            (Values::Integer(numbers), Kind::Time, Value::Integer(_) | Value::Real(_)) => {
                keep(numbers, value.as_f64().and_then(micros))
            }
            (Values::Integer(numbers), Kind::Integer, Value::Integer(n)) => keep(numbers, Some(*n)),
            (Values::Real(numbers), _, Value::Real(x)) => keep(numbers, Some(*x)),
            (Values::Real(numbers), _, Value::Integer(n)) => keep(numbers, exact(*n)),
            (Values::Flag(flags), _, Value::Integer(n @ (0 | 1))) => keep(flags, Some(*n == 1)),
            _ => false,
        };
        self.levels.push(i16::from(is_taken));
        if is_taken { Ok(size_of::<i64>()) } else { Err(()) }
    }

    /// Takes a JSON object that is not closed; null where there is none.
    pub(super) fn put_json(&mut self, mut object: Vec<u8>) -> usize {
        self.levels.push(i16::from(!object.is_empty()));
        let bytes = object.len();
        if let (Values::Text(texts), false) = (&mut self.values, object.is_empty()) {
            object.push(b'}');
            texts.push(object.into());
        }
        bytes
    }

    /// Writes the cells into a group of rows, and lets go of them.
    pub(super) fn write(&mut self, column: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = std::mem::take(&mut self.levels);
        match (&mut self.values, column) {
            (Values::Text(values), ColumnWriter::ByteArrayColumnWriter(out)) => {
                write::<ByteArrayType>(values, &levels, out)
            }
            (Values::Integer(values), ColumnWriter::Int64ColumnWriter(out)) => {
                write::<Int64Type>(values, &levels, out)
            }
            (Values::Real(values), ColumnWriter::DoubleColumnWriter(out)) => {
                write::<DoubleType>(values, &levels, out)
            }
            (Values::Flag(values), ColumnWriter::BoolColumnWriter(out)) => {
                write::<BoolType>(values, &levels, out)
            }
            _ => Err(ParquetError::General("a column is of another type".into())),
        }
    }
}

/// Whether there is a value to take.
fn keep<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
    let is_there = value.is_some();
    values.extend(value);
    is_there
}

fn write<T: DataType>(
    values: &mut Vec<T::T>,
    levels: &[i16],
    out: &mut ColumnWriterImpl<'_, T>,
) -> Result<(), ParquetError> {
    out.write_batch(values, Some(levels), None)?;
    values.clear();
    Ok(())
}

/// A time in microseconds, rounded; `None` beyond the calendar.
fn micros(seconds: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "within the calendar")]
    is_in_calendar(seconds).then(|| (seconds * 1e6).round_ties_even() as i64)
}

/// A whole number as a double, if it is one.
fn exact(n: i64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "below 2^53 there is none")]
    (n.unsigned_abs() <= 1 << 53).then_some(n as f64)
}
