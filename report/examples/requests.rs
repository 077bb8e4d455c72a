//! Writes a made-up profile with requests, to see and to measure `trodden slow` with:
//! `cargo run --example requests -- FILE [REQUESTS [VECTORS]]`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::requests::{Plan, server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let Some(file) = arguments.first() else {
        return Err("which file?".into());
    };
    let plan = Plan {
        requests: number(1, 20_000)?,
        pool: number(2, 0)?,
        kept: 1,
        noise: 40,
        miss: 0.004,
        retry: 0.002,
        large: 0.001,
        branch: 0.001,
        lock: 0.001,
        collection: 0.001,
        waiting: 0.0005,
        ..Plan::default()
    };
    std::fs::write(file, server(&plan).0.to_bytes()?)?;
    Ok(())
}
