//! Recorded streams in memory, and what is in them: shared by the tables.

pub mod as_published;
pub mod calls;
pub mod cut;
pub mod suffixes;

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use trodden_profile::trace::{TraceItem, TraceReader};

/// Words of the busiest thread of a trace.
pub struct Window {
    /// File name without folder and ending.
    pub name: String,
    /// The words.
    pub words: Vec<u64>,
    /// Words of the thread, and of all threads, as far as the file was read.
    pub of: (u64, u64),
}

/// Does the word end a path?
pub fn ends_path(word: u64) -> bool {
    matches!(word >> 60, 0 | 3 | 4)
}

impl Window {
    /// Of the thread that has most words, at most `limit` from the middle: beginnings are often set-up.
    pub fn read(file: &str, limit: usize) -> Result<Window, Box<dyn Error>> {
        let mut counts: HashMap<u64, u64> = HashMap::new();
        each_chunk(file, |thread, words| {
            *counts.entry(thread).or_default() += words.len() as u64;
            true
        })?;
        let all = counts.values().sum();
        let (busiest, of) = counts.into_iter().max_by_key(|&(_, n)| n).unwrap_or_default();
        let mut skip = (of as usize).saturating_sub(limit) / 2;
        let mut window = Vec::with_capacity((of as usize).min(limit));
        each_chunk(file, |thread, words| {
            if thread == busiest {
                let skipped = skip.min(words.len());
                skip -= skipped;
                let room = limit - window.len();
                window.extend(words[skipped..].iter().take(room));
            }
            window.len() < limit
        })?;
        Ok(Window {
            name: name(file),
            words: window,
            of: (of, all),
        })
    }

    /// Of the thread that is first to have `limit` words, or else has most, the first `limit`: for what needs
    /// to know all activations that are open. The file is read no further.
    pub fn first(file: &str, limit: usize) -> Result<Window, Box<dyn Error>> {
        let mut all: HashMap<u64, Vec<u64>> = HashMap::new();
        each_chunk(file, |thread, words| {
            let kept = all.entry(thread).or_default();
            kept.extend(words.iter().take(limit - kept.len()));
            kept.len() < limit
        })?;
        let words = all.into_values().max_by_key(Vec::len).unwrap_or_default();
        Ok(Window {
            name: name(file),
            of: (words.len() as u64, words.len() as u64),
            words,
        })
    }
}

fn name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or_default();
    name.trim_end_matches(".trace").to_owned()
}

fn each_chunk(file: &str, mut f: impl FnMut(u64, &[u64]) -> bool) -> Result<(), Box<dyn Error>> {
    let mut trace = TraceReader::new(BufReader::with_capacity(1 << 16, File::open(file)?))?;
    while let Some(item) = trace.next_item()? {
        if let TraceItem::Words { thread, words } = item
            && !f(thread, words)
        {
            break;
        }
    }
    Ok(())
}

/// Median, least and greatest of some numbers.
pub fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.as_slice() {
        [] => (f64::NAN, f64::NAN, f64::NAN),
        sorted => (sorted[sorted.len() / 2], sorted[0], sorted[sorted.len() - 1]),
    }
}
