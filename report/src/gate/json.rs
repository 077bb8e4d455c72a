//! JSON, format `trodden-gate` version 1. Keys may be added; what is here keeps its name and shape.

use serde::Serialize;
use trodden_insight::gate::{GateComparison, Grew, TestChange};

use crate::object::{self, Each, object};

/// JSON, format `trodden-gate` version 1: all tests, by name.
///
/// # Errors
/// If the writer fails.
pub fn json(compared: &GateComparison) -> Result<String, serde_json::Error> {
    let document = object! {
        "format": "trodden-gate",
        "version": 1,
        "fail_on": compared.fail_on,
        "failed": compared.failed(),
        "tests": Each(compared.tests.iter().map(test)),
    };
    object::to_string(&document)
}

fn test(test: &TestChange) -> impl Serialize {
    object! {
        "name": &test.name,
        "verdict": test.verdict.name(),
        "instructions": test.instructions,
        "change": test.change,
        "own_instructions": test.own,
        "allocated": test.allocated,
        "time_ns": test.time,
        "allocations": test.allocations,
        "outside_calls": test.outside.map(|outside| outside.map(|outside| outside.calls)),
        "outside_perhaps": test.outside.map(|outside| outside.map(|outside| outside.perhaps)),
        "limit": test.limit,
        "grew": test.grew().map(growth),
        "by_others": test.by_others,
        "unstable": test.unstable.as_deref(),
    }
}

fn growth(grew: &Grew) -> impl Serialize {
    object! {
        "class": grew.class.as_str(),
        "method": grew.method.as_str(),
        "path": grew.path.as_deref(),
        "file": grew.file.as_deref(),
        "line": grew.line,
        "instructions": grew.instructions,
        "calls": grew.calls,
        "count": grew.count,
        "length": grew.length,
    }
}
