//! Writes the report of the tests' made-up profile: `cargo run -p trodden-report --example fixture_page -- DIR`.

#[path = "../tests/common/mod.rs"]
mod common;

use trodden_report::{Report, ReportOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let options = ReportOptions {
        sources: vec![common::sources()],
        ..ReportOptions::default()
    };
    let profile = common::profile();
    let report = Report::new(&profile, &options)?;
    std::fs::write(folder.join("report.html"), report.html()?)?;
    std::fs::write(folder.join("report.json"), report.json()?)?;
    std::fs::write(folder.join("report.svg"), report.svg()?)?;
    std::fs::write(folder.join("report.dot"), report.dot()?)?;
    print!("{}", report.text(false));
    Ok(())
}
