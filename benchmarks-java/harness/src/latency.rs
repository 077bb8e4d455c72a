//! What tools do to the latency of a small HTTP server under constant load: interleaved runs without a tool
//! and with each, the server on one processor, its client on another.
//!
//! Each request's latency counts from when it was due, so a server that stands still makes all requests late
//! that were due meanwhile (`HttpLoad.java`). Absolute latencies mean nothing on a shared machine; ratios to
//! the run without a tool in the same round do, if the spread between rounds is small.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use crate::error::{Error, Result, io};
use crate::jvm::{Config, Launch};
use crate::record::Record;
use crate::stats::Spread;
use crate::workload::{self, Workload};
use crate::workspace::Workspace;
use crate::{Plan, long, overhead, progress};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Arguments {
    /// Tools, as those of `overhead`
    #[arg(long, required = true)]
    pub tool: Vec<String>,
    /// Rounds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Requests per second
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: u32,
    /// Seconds of load that are not measured: the server's compilers have their work then
    #[arg(long, default_value_t = 20)]
    pub warmup: u32,
    /// Seconds that are measured
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// Connections
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// The one processor of the server
    #[arg(long)]
    pub processor: Option<u32>,
    /// The one processor of the client
    #[arg(long)]
    pub client_processor: Option<u32>,
    /// The trodden program (default: the release build's)
    #[arg(long)]
    pub trodden: Option<PathBuf>,
}

/// Ranks of the latencies that the client prints, in its order.
const RANKS: [&str; 5] = ["p50", "p90", "p99", "p99.9", "greatest"];

/// What the client found.
#[derive(Clone, Debug, PartialEq)]
struct Latency {
    /// Requests, those of the warm-up included.
    requests: u64,
    /// Checksum of all answers.
    checksum: String,
    /// Latencies in nanoseconds, by [`RANKS`].
    nanos: [u64; RANKS.len()],
}

/// The client's line: `latency REQUESTS CHECKSUM P50 P90 P99 P99.9 GREATEST`.
fn parse(output: &str) -> Option<Latency> {
    let line = output.lines().find_map(|line| line.strip_prefix("latency "))?;
    let mut words = line.split(' ');
    let (requests, checksum) = (words.next()?.parse().ok()?, words.next()?.to_owned());
    let nanos: Vec<u64> = words
        .map(|word| word.parse().ok())
        .collect::<Option<Vec<u64>>>()?;
    Some(Latency {
        requests,
        checksum,
        nanos: nanos.try_into().ok()?,
    })
}

/// A server that runs; it is killed if it goes out of scope without having been stopped.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        // Errors here mean that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failed(problem: impl Into<String>) -> Error {
    Error::Program {
        program: "http".to_owned(),
        problem: problem.into(),
    }
}

impl Server {
    /// Starts it and waits until it says its port.
    fn start(launch: &Launch, workload: &Workload, folder: &Path) -> Result<Server> {
        let mut arguments = workload.arguments.clone();
        arguments.push("--serve".into());
        let mut command = launch.command(&arguments, folder);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(io("start", launch.jdk.java()))?;
        let output = child.stdout.take().ok_or_else(|| failed("no standard output"))?;
        let mut server = Server {
            child,
            output: BufReader::new(output),
            port: 0,
        };
        let mut line = String::new();
        server
            .output
            .read_line(&mut line)
            .map_err(io("read from", launch.jdk.java()))?;
        let port = line
            .trim()
            .strip_prefix("port ")
            .and_then(|port| port.parse().ok());
        server.port = port.ok_or_else(|| failed(format!("said '{}', not its port", line.trim())))?;
        Ok(server)
    }

    /// Ends it, and returns the processor time of its process in seconds as it says itself: all of it but the
    /// tool's end.
    fn stop(mut self) -> Result<f64> {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output
            .read_to_string(&mut rest)
            .map_err(io("read from", "the server"))?;
        let status = self.child.wait().map_err(io("wait for", "the server"))?;
        if !status.success() {
            return Err(failed(status.to_string()));
        }
        let nanos = rest
            .lines()
            .find_map(|line| line.strip_prefix("cpu ")?.parse::<u64>().ok());
        let nanos = nanos.ok_or_else(|| failed(format!("said '{}', not its processor time", rest.trim())))?;
        Ok(nanos as f64 / 1e9)
    }
}

/// One run of the server under a tool.
#[derive(Clone, Debug)]
struct Measured {
    latency: Latency,
    cpu: f64,
}

/// Measures, and returns the summary.
///
/// # Errors
/// If server or client fail, or answers differ between tools.
pub fn run(
    plan: &Plan,
    workspace: &Workspace,
    arguments: &Arguments,
    trodden: &Path,
    record: &Record,
) -> Result<String> {
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let workload = workload::choose(workspace, &["http".to_owned()])?.remove(0);
    let mut configs = vec![Config::parse("base")?];
    for name in &arguments.tool {
        configs.push(overhead::tool(workspace, trodden, name, folder.path())?);
    }
    let mut head = "jdk,tool,round,requests,checksum,cpu_seconds".to_owned();
    RANKS
        .iter()
        .for_each(|rank| head.push_str(&format!(",{rank}_nanos")));
    let mut raw = record.raw(&head)?;
    let mut all: Vec<(String, Vec<Vec<Measured>>)> = Vec::new();
    let mut text = String::new();
    for jdk in &plan.jdks {
        all.push((jdk.version.clone(), configs.iter().map(|_| Vec::new()).collect()));
        for round in 0..arguments.rounds {
            for (index, config) in configs.iter().enumerate() {
                progress(&format!("{} http {} {}", jdk.version, config.name, round + 1));
                let profile = folder.path().join(format!("{}.trodden", config.name));
                let launch = Launch {
                    processor: arguments.processor,
                    ..plan.launch(jdk, config, workload.include, &profile)?
                };
                // What config.jvm has are the options of another agent.
                let options = [plan.jvm_options.clone(), config.jvm.clone()].concat();
                let launch = Launch {
                    jvm_options: &options,
                    ..launch
                };
                let server = Server::start(&launch, &workload, folder.path())?;
                let client = Launch {
                    processor: arguments.client_processor,
                    ..plan.plain(jdk)
                };
                let outcome = client.run("HttpLoad", &load(&workload, server.port, arguments))?;
                let latency = parse(&outcome.output).ok_or_else(|| failed("the client said no latencies"))?;
                let measured = Measured {
                    latency,
                    cpu: server.stop()?,
                };
                let nanos: Vec<String> = measured.latency.nanos.iter().map(u64::to_string).collect();
                raw.line(&format!(
                    "{},{},{round},{},{},{:.2},{}",
                    jdk.version,
                    config.name,
                    measured.latency.requests,
                    measured.latency.checksum,
                    measured.cpu,
                    nanos.join(",")
                ))?;
                let of_jdk = all.last_mut().map(|(_, of_jdk)| of_jdk);
                let of_jdk = of_jdk.ok_or_else(|| failed("no JDK"))?;
                if let Some(plain) = of_jdk[0].first()
                    && plain.latency.checksum != measured.latency.checksum
                {
                    return Err(failed(format!("answers differ under {}", config.name)));
                }
                of_jdk[index].push(measured);
            }
            text = summary(&all, &configs, arguments);
            record.write("summary.md", &text)?;
        }
    }
    Ok(text)
}

/// Arguments of the client's JVM.
fn load(workload: &Workload, port: u16, arguments: &Arguments) -> Vec<OsString> {
    // The class path; the main class stands behind it.
    let mut words: Vec<OsString> = workload.arguments[..2].to_vec();
    words.push("trodden.drivers.HttpLoad".into());
    let numbers = [
        u32::from(port),
        arguments.rate,
        arguments.warmup,
        arguments.seconds,
        arguments.connections,
    ];
    words.extend(numbers.map(|number| OsString::from(number.to_string())));
    words
}

fn summary(all: &[(String, Vec<Vec<Measured>>)], configs: &[Config], arguments: &Arguments) -> String {
    let mut text = format!(
        "HTTP server under {} requests per second over {} connections; {} s measured after {} s of the same load. \
         Latency from when a request was due, in microseconds: medians of the rounds, with least and greatest. \
         Ratios are to the run without a tool in the same round.\n\n",
        arguments.rate, arguments.connections, arguments.seconds, arguments.warmup
    );
    let mut rows = vec![
        [
            "JDK",
            "tool",
            "p50",
            "p99",
            "p99.9",
            "p50, ratio",
            "p99, ratio",
            "processor time, ratio",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for (jdk, of_jdk) in all {
        let plain = &of_jdk[0];
        for (config, of_tool) in configs.iter().zip(of_jdk) {
            let micros = |rank: usize| {
                let values: Vec<f64> = of_tool
                    .iter()
                    .map(|m| m.latency.nanos[rank] as f64 / 1e3)
                    .collect();
                Spread::of(&values).map_or("–".to_owned(), |spread| spread.show(0))
            };
            let ratio = |figure: &dyn Fn(&Measured) -> f64| {
                let pairs = of_tool.iter().zip(plain);
                let values: Vec<f64> = pairs.map(|(tool, plain)| figure(tool) / figure(plain)).collect();
                Spread::of(&values).map_or("–".to_owned(), |spread| spread.show(3))
            };
            rows.push(vec![
                jdk.clone(),
                config.name.clone(),
                micros(0),
                micros(2),
                micros(3),
                ratio(&|m| m.latency.nanos[0] as f64),
                ratio(&|m| m.latency.nanos[2] as f64),
                ratio(&|m| m.cpu),
            ]);
        }
    }
    text.push_str(&long::table(&rows));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_line() {
        let latency = parse("some warning\nlatency 50000 9a3f 100 200 300 400 500\n").unwrap();
        assert_eq!(latency.requests, 50_000);
        assert_eq!(latency.checksum, "9a3f");
        assert_eq!(latency.nanos, [100, 200, 300, 400, 500]);
        assert_eq!(parse("latency 50000 9a3f 100 200 300 400"), None);
        assert_eq!(parse("latency"), None);
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        let measured = |p99: u64, cpu: f64| Measured {
            latency: Latency {
                requests: 1,
                checksum: "0".into(),
                nanos: [1_000, 1_000, p99, 9_000, 9_000],
            },
            cpu,
        };
        let plain = vec![measured(10_000, 1.0), measured(40_000, 2.0)];
        let tool = vec![measured(11_000, 1.5), measured(44_000, 3.0)];
        let configs = ["base", "counters"].map(|name| Config::parse(name).unwrap());
        let arguments = Arguments {
            tool: Vec::new(),
            rounds: 2,
            rate: 1000,
            warmup: 1,
            seconds: 1,
            connections: 1,
            processor: None,
            client_processor: None,
            trodden: None,
        };
        let text = summary(&[("17".into(), vec![plain, tool])], &configs, &arguments);
        assert!(text.contains(
            "| 17 | counters | 1 (1-1) | 28 (11-44) | 9 (9-9) | 1.000 (1.000-1.000) | 1.100 (1.100-1.100) | 1.500 (1.500-1.500) |"
        ), "{text}");
    }
}
