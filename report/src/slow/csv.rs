//! CSV: a row for each request whose paths were read, for analyses of one's own.

use std::io::{self, Write};

use trodden_insight::slow::Vectors;

/// A row per sample: name, latency, CPU time, collections, weight, then how often it took each outcome.
///
/// # Errors
/// If `out` fails.
pub fn csv(vectors: &Vectors, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    write!(out, "name,latency_ms,cpu_ms,collections_ms,weight")?;
    for spot in &vectors.outcomes {
        write!(out, ",{}", quoted(&super::sentences::full_place(spot)))?;
    }
    writeln!(out)?;
    for (name, sample) in &vectors.samples {
        let ms = |ns: u64| ns as f64 / 1e6;
        let cpu = sample.cpu_ns.map_or_else(String::new, |ns| ms(ns).to_string());
        write!(
            out,
            "{},{},{cpu},{},{}",
            quoted(name),
            ms(sample.latency_ns),
            ms(sample.collections_ns),
            sample.weight
        )?;
        let row = vectors.rows.get(sample.vector as usize);
        let mut counts = row.into_iter().flatten().peekable();
        for column in 0..vectors.outcomes.len() as u32 {
            match counts.next_if(|(outcome, _)| *outcome == column) {
                Some((_, count)) => write!(out, ",{count}")?,
                None => write!(out, ",0")?,
            }
        }
        writeln!(out)?;
    }
    out.flush()
}

/// A field: RFC 4180's quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
