//! Messages as SQLite gives them, and copies of them that another thread can decode.

use formats::model::{Message, MessageColumn, Row};
use rusqlite::types::ValueRef;

use super::decode::{self, Fault};
use super::snapshot::Table;
use crate::redact::Raw;

/// A message, with what it lost.
pub type Decoded<'r> = (Raw<Message<'r>>, Vec<Fault>);

/// A row of `messages` that SQLite lends out until it steps on.
pub struct Stored<'r> {
    pub(super) row: &'r rusqlite::Row<'r>,
    pub(super) table: &'r Table<MessageColumn>,
}

impl<'r> Stored<'r> {
    /// The message, with what it lost.
    pub fn decoded(&self) -> Result<Decoded<'r>, super::Error> {
        let mut faults = Vec::new();
        let mut cells = Vec::with_capacity(self.table.kinds.len());
        for (n, (name, kind)) in self.table.columns().enumerate() {
            cells.push(decode::cell(name, kind, self.row.get_ref(n)?, &mut faults));
        }
        Ok((Raw::new(Row::new(&self.table.header, cells)), faults))
    }

    /// Adds the row to copies, as it stands.
    pub fn copy_to(&self, rows: &mut Rows) -> Result<(), super::Error> {
        rows.starts.push((rows.cells.len(), rows.bytes.len()));
        for n in 0..self.table.kinds.len() {
            let cell = match self.row.get_ref(n)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(n) => Cell::Integer(n),
                ValueRef::Real(x) => Cell::Real(x),
                ValueRef::Text(text) => Cell::Text(rows.add(text)),
                ValueRef::Blob(blob) => Cell::Blob(rows.add(blob)),
            };
            rows.cells.push(cell);
        }
        Ok(())
    }
}

/// A cell; of text and blobs, where its bytes end.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(usize),
    Blob(usize),
}

/// Copies of rows, in one piece of memory that can be filled again.
#[derive(Debug, Default)]
pub struct Rows {
    cells: Vec<Cell>,
    bytes: Vec<u8>,
    /// Where each row's cells and bytes begin.
    starts: Vec<(usize, usize)>,
}

impl Rows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Bytes of text and blobs.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Takes all rows out, and gives memory back that only a large row needed.
    pub fn clear(&mut self, keep: usize) {
        self.cells.clear();
        self.starts.clear();
        self.bytes.clear();
        self.bytes.shrink_to(keep);
    }

    fn add(&mut self, bytes: &[u8]) -> usize {
        self.bytes.extend_from_slice(bytes);
        self.bytes.len()
    }
}

/// Decodes copies; unlike the snapshot that it comes from it may go to another thread.
#[derive(Clone, Copy)]
pub struct Decoder<'s>(pub(super) &'s Table<MessageColumn>);

impl Decoder<'_> {
    /// The message of one copy, with what it lost.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn message<'r>(&'r self, rows: &'r Rows, n: usize) -> Decoded<'r> {
        let Decoder(table) = self;
        let (first, mut start) = rows.starts[n];
        let mut text = |end: usize| {
            let bytes = &rows.bytes[start..end];
            start = end;
            bytes
        };
        let mut faults = Vec::new();
        let mut cells = Vec::with_capacity(table.kinds.len());
        for ((name, kind), cell) in table.columns().zip(&rows.cells[first..]) {
            let cell = match *cell {
                Cell::Null => ValueRef::Null,
                Cell::Integer(n) => ValueRef::Integer(n),
                Cell::Real(x) => ValueRef::Real(x),
                Cell::Text(end) => ValueRef::Text(text(end)),
                Cell::Blob(end) => ValueRef::Blob(text(end)),
            };
            cells.push(decode::cell(name, kind, cell, &mut faults));
        }
        (Raw::new(Row::new(&table.header, cells)), faults)
    }
}
