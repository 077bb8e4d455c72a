//! The stress programs as a command, as long as one likes; `cargo test` runs short versions.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, auto, stress};

/// Threads, virtual threads, class unloading, attaching, ways to end a program.
#[derive(Parser)]
struct Arguments {
    /// Seconds of the shared hot method.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Threads of the shared hot method.
    #[arg(long, default_value_t = 16)]
    threads: u32,
    /// Times a class is loaded and forgotten.
    #[arg(long, default_value_t = 20_000)]
    unloads: u64,
    /// Seconds in which classes lose probes and get them back.
    #[arg(long, default_value_t = 120)]
    cycling: u64,
    /// Seconds of each run with CPU samples: one per garbage collector, twice.
    #[arg(long, default_value_t = 60)]
    sampling: u64,
    /// Nothing but runs with CPU samples.
    #[arg(long)]
    only_sampling: bool,
    /// Times the agent is attached and stopped.
    #[arg(long, default_value_t = 100)]
    attaches: u32,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut failed = false;
    let mut report = |what: &str, result: Result<String>| match result {
        Ok(text) => println!("ok      {what}: {text}"),
        Err(e) => {
            failed = true;
            println!("FAILED  {what}: {e}");
        }
    };
    for jdk in Jdk::both()? {
        let name = |what: &str| format!("jdk{} {what}", jdk.feature);
        for collector in stress::COLLECTORS {
            for probe in ["auto", "counters"] {
                let time = Duration::from_secs(arguments.sampling);
                let sampled = stress::sampled(&jdk, collector, probe, time);
                report(
                    &name(&format!("CPU samples, {collector}, {probe}")),
                    sampled.map(|cpu| format!("{:?}, without a stack {:?}", cpu.total(), cpu.failed)),
                );
            }
        }
        if arguments.only_sampling {
            continue;
        }
        let time = Duration::from_secs(arguments.seconds);
        let grown = |kib: i64| format!("resident memory {kib:+} KiB");
        for probe in ["counters", "events"] {
            let shared = stress::shared_hot(&jdk, probe, arguments.threads, time);
            report(
                &name(&format!("shared hot method, {probe}")),
                shared.map(|calls| format!("{calls} calls, none lost")),
            );
            if jdk.feature >= 21 {
                let threads = stress::virtual_threads(&jdk, probe, 10_000, 1000);
                report(
                    &name(&format!("virtual threads, {probe}")),
                    threads.map(|()| "none lost".to_owned()),
                );
            }
            report(
                &name(&format!("attach and stop, {probe}")),
                stress::attach(&jdk, probe, arguments.attaches).map(grown),
            );
        }
        if jdk.feature >= 21 {
            report(
                &name("analyses of 100,000 virtual threads"),
                stress::virtual_streams(&jdk, 100_000).map(grown),
            );
        }
        let cycling = Duration::from_secs(arguments.cycling);
        for (what, options) in [("", ""), (", structural", ",profile=structural")] {
            let cycles = auto::cycles(&jdk, options, 4, cycling);
            report(
                &name(&format!("taking probes out and putting them back{what}")),
                cycles.map(|cycles| format!("{cycles:?}")),
            );
        }
        report(
            &name("unloading"),
            stress::unloading(&jdk, arguments.unloads).map(grown),
        );
        report(
            &name("ways to end"),
            stress::exits(&jdk).map(|()| "all".to_owned()),
        );
    }
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
