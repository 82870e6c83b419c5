//! A Markdown table that is also readable as plain text.

use std::fmt::Write as _;

#[derive(Default)]
pub struct Table(Vec<Vec<String>>);

impl Table {
    pub fn new(head: &[&str]) -> Self {
        Self(vec![head.iter().map(ToString::to_string).collect()])
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.0.push(cells);
    }

    /// Pads the cells, so that columns line up.
    pub fn text(&self) -> String {
        let columns = self.0.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns)
            .map(|at| self.0.iter().map(|row| row[at].chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for (number, row) in self.0.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(text, "| {cell:<width$} ");
            }
            text.push_str("|\n");
            if number == 0 {
                widths.iter().for_each(|width| text.push_str(&format!("|{}", "-".repeat(width + 2))));
                text.push_str("|\n");
            }
        }
        text
    }
}
