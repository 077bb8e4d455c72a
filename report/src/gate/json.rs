//! JSON, format `trodden-gate` version 1. Keys may be added; what is here keeps its name and shape.

use serde::Serialize;
use trodden_insight::gate::{GateComparison, Grew, TestChange};

#[derive(Serialize)]
struct Document<'c> {
    format: &'static str,
    version: u32,
    fail_on: Option<f64>,
    failed: bool,
    tests: Vec<Test<'c>>,
}

#[derive(Serialize)]
struct Test<'c> {
    name: &'c str,
    verdict: &'static str,
    instructions: [Option<u64>; 2],
    change: Option<f64>,
    own_instructions: [Option<u64>; 2],
    allocated: [Option<u64>; 2],
    time_ns: [Option<[u64; 2]>; 2],
    allocations: [Option<u64>; 2],
    outside_calls: [Option<u64>; 2],
    outside_perhaps: [Option<u64>; 2],
    limit: Option<f64>,
    grew: Option<Growth<'c>>,
    by_others: bool,
    unstable: Option<&'c str>,
}

#[derive(Serialize)]
struct Growth<'c> {
    class: &'c str,
    method: &'c str,
    path: Option<&'c str>,
    file: Option<&'c str>,
    line: Option<u32>,
    instructions: [Option<u64>; 2],
    calls: [Option<u64>; 2],
    count: [Option<u64>; 2],
    length: u64,
}

/// JSON, all tests by name.
///
/// # Errors
/// If the writer fails.
pub(super) fn json(compared: &GateComparison) -> Result<String, serde_json::Error> {
    let document = Document {
        format: "trodden-gate",
        version: 1,
        fail_on: compared.fail_on,
        failed: compared.failed(),
        tests: compared.tests.iter().map(test).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn test(test: &TestChange) -> Test<'_> {
    Test {
        name: &test.name,
        verdict: test.verdict.name(),
        instructions: test.instructions,
        change: test.change,
        own_instructions: test.own,
        allocated: test.allocated,
        time_ns: test.time,
        allocations: test.allocations,
        outside_calls: test.outside.map(|outside| outside.map(|outside| outside.calls)),
        outside_perhaps: test.outside.map(|outside| outside.map(|outside| outside.perhaps)),
        limit: test.limit,
        grew: test.grew().map(growth),
        by_others: test.by_others,
        unstable: test.unstable.as_deref(),
    }
}

fn growth(grew: &Grew) -> Growth<'_> {
    Growth {
        class: &grew.class,
        method: &grew.method,
        path: grew.path.as_deref(),
        file: grew.file.as_deref(),
        line: grew.line,
        instructions: grew.instructions,
        calls: grew.calls,
        count: grew.count,
        length: grew.length,
    }
}
