//! Limits of GitHub's code scanning ("SARIF support for code scanning", section *Validating your SARIF
//! file*).

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Results of a run that are shown. A file with more than five times as many is refused.
pub(super) const MAX_RESULTS: usize = 5_000;
/// Steps of a code flow that are shown.
pub(super) const MAX_STEPS: usize = 1_000;
/// Tags of a rule.
pub(super) const MAX_TAGS: usize = 20;
/// Bytes of a file, packed by gzip.
pub(super) const MAX_PACKED: u64 = 10 << 20;

/// How much of the results is written.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub results: usize,
    /// Steps of each result.
    pub steps: usize,
}

/// The largest document that is within the limits: steps are given up before results.
pub(super) fn fitting<E>(
    results: usize,
    document: impl Fn(Extent) -> Result<String, E>,
) -> Result<String, E> {
    let mut extent = Extent {
        results: results.min(MAX_RESULTS),
        steps: MAX_STEPS,
    };
    loop {
        let text = document(extent)?;
        // Packing never makes a text much longer.
        if (text.len() as u64) < MAX_PACKED / 2 || packed(text.as_bytes()) <= MAX_PACKED {
            return Ok(text);
        }
        match extent {
            Extent { results: 0, .. } => return Ok(text),
            Extent { steps: 0, .. } => extent.results /= 2,
            _ => extent.steps /= 2,
        }
    }
}

/// The number of bytes of a text that is packed.
pub(super) fn packed(text: &[u8]) -> u64 {
    struct Counter(u64);
    impl Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut encoder = GzEncoder::new(Counter(0), Compression::fast());
    let written = encoder.write_all(text).and_then(|()| encoder.finish());
    written.map_or(u64::MAX, |counter| counter.0)
}
