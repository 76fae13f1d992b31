//! Results of a benchmark, as text and as JSON.

use crate::report;

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A number and its decimals in the text table.
    Number(f64, usize),
    /// A small number in scientific notation.
    Error(f64),
    /// Not applicable to this row.
    Nothing,
}

impl Cell {
    /// Creates a text cell.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    /// Creates a cell with a whole number.
    pub fn count(count: impl TryInto<u64>) -> Self {
        Cell::Number(count.try_into().unwrap_or(u64::MAX) as f64, 0)
    }

    /// Formats the cell for the text table.
    fn shown(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(value, decimals) => format!("{value:.decimals$}"),
            Cell::Error(value) => format!("{value:.1e}"),
            Cell::Nothing => "-".into(),
        }
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Cell::Text(text) => text.as_str().into(),
            Cell::Number(value, _) | Cell::Error(value) => (*value).into(),
            Cell::Nothing => serde_json::Value::Null,
        }
    }
}

/// A column: its heading in the text, and its JSON key, which is stable.
pub type Column = (&'static str, &'static str);

/// A table with one cell per row and column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// JSON key of the rows.
    pub field: &'static str,
    /// The columns.
    pub columns: &'static [Column],
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Creates an empty table with the key `rows`.
    pub fn new(columns: &'static [Column]) -> Self {
        Self::named("rows", columns)
    }

    /// Creates an empty table with another key.
    pub fn named(field: &'static str, columns: &'static [Column]) -> Self {
        Table { field, columns, rows: Vec::new() }
    }

    /// Appends a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a cell under each column");
        self.rows.push(row);
    }

    fn text(&self) -> String {
        let heads: Vec<&str> = self.columns.iter().map(|(head, _)| *head).collect();
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect();
        report::table(&heads, &rows)
    }

    fn json(&self) -> serde_json::Value {
        let object = |row: &Vec<Cell>| {
            let cells = self.columns.iter().zip(row);
            serde_json::Value::Object(
                cells.map(|((_, field), cell)| ((*field).to_owned(), cell.json())).collect(),
            )
        };
        self.rows.iter().map(object).collect()
    }
}

/// All results of a benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The tables, the main one first.
    pub tables: Vec<Table>,
    /// Values that hold for all rows: key and value, printed below the tables.
    pub remarks: Vec<Remark>,
}

/// A remark: its key, whose underscores are printed as spaces, and its value.
pub type Remark = (&'static str, Cell);

impl From<Table> for Findings {
    fn from(table: Table) -> Self {
        Findings { tables: vec![table], remarks: Vec::new() }
    }
}

impl Findings {
    /// Formats the results as text.
    pub fn text(&self) -> String {
        let tables: Vec<String> = self.tables.iter().map(Table::text).collect();
        let remarks = self
            .remarks
            .iter()
            .map(|(field, value)| format!("\n{}: {}", field.replace('_', " "), value.shown()));
        tables.join("\n\n") + &remarks.collect::<String>()
    }

    /// Formats the results as JSON: `{"rows": [{field: cell, ...}, ...], remark: value, ...}`.
    pub fn json(&self) -> serde_json::Value {
        let tables = self.tables.iter().map(|table| (table.field.to_owned(), table.json()));
        let remarks = self.remarks.iter().map(|(field, value)| ((*field).to_owned(), value.json()));
        serde_json::Value::Object(tables.chain(remarks).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_readers_get_the_same() {
        let mut table = Table::new(&[("law", "law"), ("ns per pair", "nanoseconds_per_pair")]);
        table.push(vec![Cell::text("mie"), Cell::Number(1.25, 1)]);
        table.push(vec![Cell::text("none"), Cell::Nothing]);
        let mut findings = Findings::from(table);
        findings.tables.push(Table::named("at_error", &[("error", "error")]));
        findings.tables[1].push(vec![Cell::Error(2e-4)]);
        findings.remarks.push(("threads_per_rank", Cell::count(2usize)));
        let text = findings.text();
        assert!(text.contains("ns per pair") && text.contains("mie") && text.contains("1.2"), "{text}");
        assert!(text.ends_with("\nthreads per rank: 2"), "{text}");
        let json = findings.json();
        assert_eq!(json["rows"][0]["nanoseconds_per_pair"], 1.25);
        assert_eq!(json["rows"][1]["nanoseconds_per_pair"], serde_json::Value::Null);
        assert_eq!(json["at_error"][0]["error"], 2e-4);
        assert_eq!(json["threads_per_rank"], 2.0);
    }

    #[test]
    #[should_panic(expected = "a cell under each column")]
    fn a_row_has_all_cells() {
        Table::new(&[("law", "law")]).push(Vec::new());
    }
}
