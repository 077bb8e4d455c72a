//! Makes the windows of a fleet, with facts planted in them: `cargo run --release --example fleet-generator -- --help`.

#[path = "../tests/fleet/mod.rs"]
mod fleet;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use fleet::Fleet;

/// Writes the windows of a fleet into a folder, as agents' spools have them.
#[derive(Parser)]
struct Arguments {
    /// JVMs at a time, each on a host of its own.
    #[arg(long, default_value_t = 8)]
    jvms: u32,
    /// Days; each JVM has a window a day.
    #[arg(long, default_value_t = 6)]
    days: u32,
    /// How many classes there are of each in the seeds.
    #[arg(long, default_value_t = 1)]
    copies: u32,
    /// Another fleet of the same size.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder.
    out: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let fleet = Fleet {
        jvms: arguments.jvms.max(1),
        days: arguments.days,
        copies: arguments.copies.max(1),
        seed: arguments.seed,
    };
    match fleet.write(&arguments.out) {
        Ok(files) => {
            println!("{} windows; host {} differs", files.len(), fleet.odd_host());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("fleet-generator: {}: {error}", arguments.out.display());
            ExitCode::FAILURE
        }
    }
}
