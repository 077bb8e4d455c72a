//! What the Java programs print: one line per iteration, `workload iteration nanos cpuNanos checksum`.

use crate::error::{Error, Result};

/// One iteration of a workload inside one JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Name of the workload.
    pub workload: String,
    /// Number from 0; negative while warming up.
    pub number: i64,
    /// Elapsed nanoseconds.
    pub nanos: u64,
    /// CPU time of the whole process in nanoseconds, compiler and collector threads included.
    pub cpu_nanos: u64,
    /// Checksum of the result, in hexadecimal.
    pub checksum: String,
}

/// Parses a program's standard output. Every line must be an iteration: a workload whose own output gets in
/// the way could not be compared.
///
/// # Errors
/// If a line is something else.
pub fn parse_iterations(output: &str) -> Result<Vec<Iteration>> {
    let lines = output.lines().enumerate();
    lines
        .map(|(index, text)| {
            parse_line(text).ok_or_else(|| Error::Parse {
                line: index + 1,
                problem: "not 'workload iteration nanos cpuNanos checksum'",
                text: text.to_owned(),
            })
        })
        .collect()
}

fn parse_line(line: &str) -> Option<Iteration> {
    let mut words = line.split(' ');
    let iteration = Iteration {
        workload: words.next().filter(|w| !w.is_empty())?.to_owned(),
        number: words.next()?.parse().ok()?,
        nanos: words.next()?.parse().ok()?,
        cpu_nanos: words.next()?.parse().ok()?,
        checksum: words.next()?.to_owned(),
    };
    u64::from_str_radix(&iteration.checksum, 16).ok()?;
    words.next().is_none().then_some(iteration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_warm_up_and_measured_iterations() {
        let parsed = parse_iterations("fft -1 500 600 ab\nfft 0 400 450 ab\n").unwrap();
        assert_eq!(parsed.len(), 2);
        assert_eq!(parsed[0].number, -1);
        assert_eq!((parsed[1].nanos, parsed[1].cpu_nanos), (400, 450));
        assert_eq!(parsed[1].checksum, "ab");
    }

    #[test]
    fn refuses_anything_else_with_its_line() {
        for bad in [
            "hello",
            "fft 0 1 2",
            "fft 0 1 2 xyz",
            "fft 0 1 2 ab c",
            " 0 1 2 ab",
            "fft 0 -1 2 ab",
        ] {
            let error = parse_iterations(&format!("fft 0 1 2 ab\n{bad}")).unwrap_err();
            assert!(error.to_string().starts_with("line 2: "), "{error}");
        }
    }
}
