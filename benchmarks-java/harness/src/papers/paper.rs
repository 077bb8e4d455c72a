//! A paper as data: its tables and figures, its values, and which measurement each is held against.

use std::path::Path;

use serde_json::Value as Json;

use crate::error::{Error, Result, io};

/// A paper.
pub struct Paper {
    /// Short name.
    pub name: String,
    /// Authors, title, venue.
    pub title: String,
    /// Where the paper measured, and where we did.
    pub setting: String,
    /// Its tables and figures.
    pub items: Vec<Item>,
}

/// A table, figure or section with values.
pub struct Item {
    /// `figure 6`.
    pub figure: String,
    /// The section.
    pub place: String,
    /// What it shows, in our words.
    pub what: String,
    /// How it is redone.
    pub how: How,
}

/// How a figure is redone.
pub enum How {
    /// By measurements.
    Measured {
        /// The values.
        rows: Vec<Row>,
        /// Where the difference comes from.
        difference: String,
        /// Name of the plot.
        plot: Option<String>,
    },
    /// An example or algorithm: this test checks it.
    Tested(String),
    /// Not at all, for this reason.
    Not(String),
}

/// A value of a figure.
pub struct Row {
    /// What it is.
    pub what: String,
    /// The paper's value, as text.
    pub paper: String,
    /// The key of ours.
    pub measure: String,
    /// Our aim.
    pub aim: String,
}

impl Paper {
    /// Reads a paper's file.
    ///
    /// # Errors
    /// If it cannot be read, or lacks something.
    pub fn read(file: &Path) -> Result<Paper> {
        let text = std::fs::read_to_string(file).map_err(io("read", file))?;
        let wrong = |what: String| Error::Usage(format!("{}: {what}", file.display()));
        let json: Json = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        Paper::of(&json).map_err(wrong)
    }

    fn of(json: &Json) -> std::result::Result<Paper, String> {
        let items = json["items"].as_array().ok_or("no list 'items'")?;
        Ok(Paper {
            name: text(json, "name")?,
            title: text(json, "title")?,
            setting: text(json, "setting")?,
            items: items
                .iter()
                .map(Item::of)
                .collect::<std::result::Result<_, _>>()?,
        })
    }
}

impl Item {
    fn of(json: &Json) -> std::result::Result<Item, String> {
        let figure = text(json, "figure")?;
        let given = |key: &str| json.get(key).map(|_| text(json, key)).transpose();
        let how = match (given("test")?, given("reason")?, json["rows"].as_array()) {
            (Some(test), None, None) => How::Tested(test),
            (None, Some(reason), None) => How::Not(reason),
            (None, None, Some(rows)) => How::Measured {
                rows: rows.iter().map(Row::of).collect::<std::result::Result<_, _>>()?,
                difference: text(json, "difference")?,
                plot: given("plot")?,
            },
            _ => return Err(format!("{figure}: exactly one of 'test', 'reason' and 'rows'")),
        };
        Ok(Item {
            place: text(json, "where")?,
            what: text(json, "what")?,
            figure,
            how,
        })
    }
}

impl Row {
    fn of(json: &Json) -> std::result::Result<Row, String> {
        Ok(Row {
            what: text(json, "what")?,
            paper: text(json, "paper")?,
            measure: text(json, "measure")?,
            aim: text(json, "aim")?,
        })
    }
}

fn text(json: &Json, key: &str) -> std::result::Result<String, String> {
    let text = json[key].as_str().filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| {
        format!(
            "no text '{key}' in {}",
            json.to_string().chars().take(80).collect::<String>()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_redone_in_one_way() {
        let item = |rest: &str| {
            let json = format!("{{\"figure\": \"f\", \"where\": \"s\", \"what\": \"w\"{rest}}}");
            Item::of(&serde_json::from_str(&json).unwrap())
        };
        assert!(matches!(item(", \"reason\": \"r\"").unwrap().how, How::Not(_)));
        assert!(matches!(item(", \"test\": \"t\"").unwrap().how, How::Tested(_)));
        assert!(item("").is_err() && item(", \"reason\": \"r\", \"test\": \"t\"").is_err());
        let row = ", \"difference\": \"d\", \"rows\": [{\"what\": \"a\", \"paper\": \"1\", \"measure\": \"k\", \"aim\": \"-\"}]";
        assert!(matches!(item(row).unwrap().how, How::Measured { .. }));
        assert!(item(", \"rows\": []").is_err(), "a difference has to be said");
    }
}
