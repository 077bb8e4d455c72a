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
    /// Seconds of each run with CPU samples: three per garbage collector.
    #[arg(long, default_value_t = 60)]
    sampling: u64,
    /// CPU time from sample to sample.
    #[arg(long, default_value = "1ms")]
    sample: String,
    /// How often the runs with CPU samples are done, those of threads by number among them.
    #[arg(long, default_value_t = 1)]
    rounds: u32,
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
        let time = Duration::from_secs(arguments.sampling);
        for round in 0..arguments.rounds {
            for (number, collector) in (round..).zip(stress::COLLECTORS) {
                for (number, (mode, flags)) in (number..).zip(stress::MODES) {
                    let probe = ["auto", "counters"][number as usize % 2];
                    let options = format!("{probe},sample={}", arguments.sample);
                    let sampled = stress::sampled(&jdk, collector, flags, &options, time);
                    report(
                        &name(&format!("CPU samples, {collector}, {mode}, {options}")),
                        sampled.map(|cpu| {
                            format!(
                                "{:?}, answered {:?}, without a stack {:?}",
                                cpu.total(),
                                cpu.waits.innermost.answered,
                                cpu.failed
                            )
                        }),
                    );
                }
            }
            let options = format!("counters,sample={}", arguments.sample);
            for (threads, time) in [(arguments.threads, time), (20_000, Duration::from_millis(1))] {
                report(
                    &name(&format!("{threads} threads with CPU samples, {options}")),
                    stress::shared_hot(&jdk, &options, threads, time)
                        .map(|calls| format!("{calls} calls, none lost")),
                );
            }
            if jdk.feature >= 21 {
                report(
                    &name(&format!("10,000 virtual threads with CPU samples, {options}")),
                    stress::virtual_threads(&jdk, &options, 10_000, 100).map(|()| "none lost".to_owned()),
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
