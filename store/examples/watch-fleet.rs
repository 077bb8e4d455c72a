//! A fleet with planted changes and decoys, and a judge of what `trodden store watch` says of it:
//! `cargo run --release --example watch-fleet -- make FOLDER`, then `trodden store add`, then
//! `trodden store watch STORE --since … --format json > said.json`, then `… -- judge FOLDER/truth.json said.json`.
//!
//! The truth is in a file of its own; neither it nor anything of this program is known to the detector.

#[path = "../tests/fleet/mod.rs"]
mod fleet;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fleet::{DAY_MS, FIRST_MS, Random};
use serde::{Deserialize, Serialize};
use trodden_profile::{CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime, MethodCounts, Profile};
use trodden_store::Day;

/// Nanoseconds between two samples.
const INTERVAL: u64 = 10_000_000;
/// Days between two builds.
const BUILD_DAYS: u32 = 9;
/// The first day on which something may change.
const FIRST_CHANGE: u32 = 15;

/// How unequal methods are: the standard deviation of the logarithms of their costs.
const SKEW: f64 = 1.5;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes the windows of a fleet, and `truth.json`.
    Make {
        /// JVMs, each on a host of its own.
        #[arg(long, default_value_t = 100)]
        jvms: u32,
        /// Days; each JVM has a window a day.
        #[arg(long, default_value_t = 60)]
        days: u32,
        /// How many classes there are of each in the seeds.
        #[arg(long, default_value_t = 100)]
        copies: u32,
        /// Planted changes, and as many decoys.
        #[arg(long, default_value_t = 40)]
        changes: u32,
        /// CPU samples of a JVM and day.
        #[arg(long, default_value_t = 20_000)]
        samples: u32,
        /// Another fleet of the same size.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The folder.
        out: PathBuf,
    },
    /// Compares what was said with the truth.
    Judge {
        /// The truth.
        truth: PathBuf,
        /// The output of `watch --format json`.
        said: PathBuf,
        /// Days after a change within which it has to be found.
        #[arg(long, default_value_t = 2)]
        within: i32,
    },
}

/// A planted change.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Change {
    class: String,
    method: String,
    day: Day,
    /// Change of the method's CPU time as a share of the service's, or of the share of a path.
    size: f64,
    /// `cpu`, `work` (CPU time and executions), `path`.
    kind: String,
}

/// Something that is no change of a method's cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Decoy {
    kind: String,
    day: Day,
    class: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Truth {
    jvms: u32,
    days: u32,
    changes: Vec<Change>,
    decoys: Vec<Decoy>,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Make {
            jvms,
            days,
            copies,
            changes,
            samples,
            seed,
            out,
        } => Plan::new(jvms, days, copies, changes, samples, seed).make(&out),
        Command::Judge { truth, said, within } => judge(&truth, &said, within),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("watch-fleet: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The effect of a change or decoy on a method from a day on.
#[derive(Clone, Copy, Debug)]
struct Effect {
    day: u32,
    /// Days that it lasts.
    lasts: u32,
    cpu: f64,
    work: f64,
    /// Part of the executions of the most frequent path that go another way.
    path: f64,
}

/// All of a fleet.
struct Plan {
    profile: Profile,
    /// Share of each method of each class in the CPU time.
    shares: Vec<Vec<f64>>,
    effects: BTreeMap<(usize, usize), Vec<Effect>>,
    /// Day, days that it lasts, and factor of the whole service's load.
    loads: Vec<(u32, u32, f64)>,
    /// Day, part of the hosts, and factor of their CPU time.
    generations: Vec<(u32, f64, f64)>,
    samples: u32,
    seed: u64,
    truth: Truth,
}

fn unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 53) as f64
}

fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - unit(random)).ln()).sqrt() * (std::f64::consts::TAU * unit(random)).cos()
}

fn day(number: u32) -> Day {
    Day::of_ms((FIRST_MS + u64::from(number) * DAY_MS) as i64)
}

impl Plan {
    fn new(jvms: u32, days: u32, copies: u32, changes: u32, samples: u32, seed: u64) -> Plan {
        let profile = fleet::seed("one.trodden", copies);
        let mut random = Random(seed);
        let counted = |counts: &MethodCounts| counts.paths.values().sum::<u64>() > 10_000;
        let mut shares: Vec<Vec<f64>> = Vec::new();
        for class in &profile.classes {
            let share = |counts| {
                if counted(counts) {
                    (SKEW * normal(&mut random)).exp()
                } else {
                    0.0
                }
            };
            shares.push(class.counts.iter().map(share).collect());
        }
        let all: f64 = shares.iter().flatten().sum();
        shares.iter_mut().flatten().for_each(|share| *share /= all);
        let mut plan = Plan {
            profile,
            shares,
            effects: BTreeMap::new(),
            loads: Vec::new(),
            generations: Vec::new(),
            samples,
            seed,
            truth: Truth {
                jvms,
                days,
                ..Truth::default()
            },
        };
        // A change or decoy of methods has a class of its own.
        let mut classes: Vec<usize> = (0..plan.shares.len())
            .filter(|&c| plan.methods(c).len() >= 2)
            .collect();
        for place in (1..classes.len()).rev() {
            classes.swap(place, random.below(place as u64 + 1) as usize);
        }
        let mut classes = classes.into_iter();
        for number in 0..changes {
            let Some(class) = classes.next() else { break };
            plan.change(number, class, days, &mut random);
        }
        for number in 0..changes {
            let Some(class) = classes.next() else { break };
            plan.decoy(number, class, days, &mut random);
        }
        plan
    }

    /// Methods of a class that run.
    fn methods(&self, class: usize) -> Vec<usize> {
        let of = &self.shares[class];
        (0..of.len()).filter(|&method| of[method] > 0.0).collect()
    }

    fn some_day(days: u32, random: &mut Random) -> u32 {
        let day = FIRST_CHANGE + random.below(u64::from(days - FIRST_CHANGE - 4)) as u32;
        // Half of them come with a build.
        if random.below(2) == 0 {
            (day.div_ceil(BUILD_DAYS) * BUILD_DAYS).min(days - 4)
        } else {
            day
        }
    }

    fn change(&mut self, number: u32, class: usize, days: u32, random: &mut Random) {
        let methods = self.methods(class);
        let method = methods[random.below(methods.len() as u64) as usize];
        let when = Self::some_day(days, random);
        // From 0.05 % to 5 %, evenly on a logarithmic scale.
        let mut size = 0.000_5 * 100f64.powf(unit(random));
        let share = self.shares[class][method];
        let kind = ["cpu", "work", "cpu", "path"][number as usize % 4];
        let mut effect = Effect {
            day: when,
            lasts: u32::MAX,
            cpu: 1.0,
            work: 1.0,
            path: 0.0,
        };
        if kind == "path" {
            size = (size * 10.0).clamp(0.02, 0.5);
            effect.path = size;
        } else {
            // A fifth are savings, of methods that cost enough.
            if random.below(5) == 0 && share > 1.5 * size {
                size = -size;
            }
            effect.cpu = 1.0 + size / share;
            if kind == "work" {
                effect.work = effect.cpu;
            }
        }
        self.effects.entry((class, method)).or_default().push(effect);
        let map = &self.profile.classes[class].map;
        self.truth.changes.push(Change {
            class: map.name.clone(),
            method: map.methods[method].name.clone(),
            day: day(when),
            size,
            kind: kind.to_owned(),
        });
    }

    fn decoy(&mut self, number: u32, class: usize, days: u32, random: &mut Random) {
        let when = Self::some_day(days, random);
        let methods = self.methods(class);
        let effect = Effect {
            day: when,
            lasts: u32::MAX,
            cpu: 1.0,
            work: 1.0,
            path: 0.0,
        };
        let kind = ["load", "generation", "moved", "spike"][number as usize % 4];
        match kind {
            "load" => {
                let lasts = if random.below(2) == 0 {
                    1 + random.below(4) as u32
                } else {
                    days
                };
                self.loads.push((when, lasts, 0.7 + 0.8 * unit(random)));
            }
            "generation" => self.generations.push((when, 0.1, 0.75 + 0.4 * unit(random))),
            "moved" => {
                let (one, other) = (methods[0], methods[1]);
                let part = 0.5 * self.shares[class][one];
                let more = Effect {
                    cpu: 1.0 + part / self.shares[class][other],
                    ..effect
                };
                self.effects
                    .entry((class, one))
                    .or_default()
                    .push(Effect { cpu: 0.5, ..effect });
                self.effects.entry((class, other)).or_default().push(more);
            }
            _ => {
                let spike = Effect {
                    cpu: 1.8,
                    work: 1.5,
                    lasts: 1,
                    ..effect
                };
                self.effects.entry((class, methods[0])).or_default().push(spike);
            }
        }
        let class = self.profile.classes[class].map.name.clone();
        self.truth.decoys.push(Decoy {
            kind: kind.to_owned(),
            day: day(when),
            class,
        });
    }

    fn make(&self, out: &Path) -> Result<(), Box<dyn Error>> {
        std::fs::create_dir_all(out)?;
        for number in 0..self.truth.days {
            let noise = self.noise(number);
            for jvm in 0..self.truth.jvms {
                let (name, profile) = self.window(number, jvm, &noise);
                std::fs::write(out.join(name), profile.to_bytes()?)?;
            }
        }
        std::fs::write(out.join("truth.json"), serde_json::to_string_pretty(&self.truth)?)?;
        println!(
            "{} changes, {} decoys",
            self.truth.changes.len(),
            self.truth.decoys.len()
        );
        Ok(())
    }

    /// The effect of traffic on each method on a day: a noise of 1 %, and more of a fifth of the classes at weekends.
    fn noise(&self, number: u32) -> Vec<Vec<f64>> {
        let mut random = Random(self.seed ^ 0xda1 ^ u64::from(number) << 20);
        let is_weekend = (day(number).0 + 3).rem_euclid(7) >= 5;
        let of = |(class, methods): (usize, &Vec<f64>)| {
            let mix = if is_weekend && class % 5 == 0 { 1.3 } else { 1.0 };
            methods
                .iter()
                .map(|_| mix * (0.01 * normal(&mut random)).exp())
                .collect()
        };
        self.shares.iter().enumerate().map(of).collect()
    }

    fn window(&self, number: u32, jvm: u32, noise: &[Vec<f64>]) -> (String, Profile) {
        let build = number / BUILD_DAYS;
        let mut random = Random(self.seed ^ u64::from(jvm) << 32 ^ u64::from(build) << 56);
        let id = format!("{:016x}{:016x}", random.next(), random.next());
        let mut random = Random(random.next() ^ u64::from(number));
        let weekend = if (day(number).0 + 3).rem_euclid(7) >= 5 {
            0.6
        } else {
            1.0
        };
        let shifts = self
            .loads
            .iter()
            .filter(|(from, lasts, _)| (*from..from.saturating_add(*lasts)).contains(&number));
        let load =
            weekend * (0.1 * normal(&mut random)).exp() * shifts.map(|(.., factor)| factor).product::<f64>();
        let place = f64::from(jvm) / f64::from(self.truth.jvms);
        let generations = self
            .generations
            .iter()
            .enumerate()
            .filter(|(of, (from, part, _))| {
                let first = 0.1 * *of as f64 % 1.0;
                *from <= number && (first..first + part).contains(&place)
            });
        let speed: f64 = generations.map(|(_, (.., factor))| factor).product();
        let mut profile = self.profile.clone();
        let (mut frames, mut rows) = (Vec::new(), Vec::new());
        for (class, of) in profile.classes.iter_mut().enumerate() {
            for (method, counts) in of.counts.iter_mut().enumerate() {
                let share = self.shares[class][method];
                if share == 0.0 {
                    continue;
                }
                let effects = self.effects.get(&(class, method)).into_iter().flatten();
                let effects: Vec<&Effect> = effects
                    .filter(|effect| (effect.day..effect.day.saturating_add(effect.lasts)).contains(&number))
                    .collect();
                let product =
                    |factor: fn(&Effect) -> f64| effects.iter().map(|effect| factor(effect)).product::<f64>();
                let usual = load * noise[class][method];
                let expected = f64::from(self.samples) * share * usual * speed * product(|effect| effect.cpu);
                let samples = (expected + expected.sqrt() * normal(&mut random))
                    .round()
                    .max(0.0) as u64;
                let work = usual * product(|effect| effect.work);
                counts.paths.values_mut().for_each(|count| {
                    let scaled = *count as f64 * work * (0.02 * normal(&mut random)).exp();
                    *count = (scaled as u64).max(1);
                });
                for effect in effects.iter().filter(|effect| effect.path > 0.0) {
                    divert(counts, &self.profile.classes[class].counts[method], effect.path);
                }
                if samples > 0 {
                    let map = &of.map.methods[method];
                    rows.push(CpuRow {
                        parent: None,
                        frame: frames.len() as u32,
                        bci: None,
                        own: CpuTime {
                            samples,
                            ns: samples * INTERVAL,
                        },
                    });
                    frames.push(CpuFrame {
                        class: of.map.name.clone(),
                        name: map.name.clone(),
                        descriptor: map.descriptor.clone(),
                        kind: CpuFrameKind::Java,
                    });
                }
            }
        }
        let mut cpu = CpuSamples {
            reader: "async".to_owned(),
            interval_ns: INTERVAL,
            ..CpuSamples::default()
        };
        cpu.set_stacks(frames, &rows);
        profile.cpu = Some(cpu);
        let started = FIRST_MS + u64::from(number) * DAY_MS + random.below(60_000);
        profile.run.started_ms = started;
        let first = build * BUILD_DAYS;
        let facts = [
            ("service", "shop".to_owned()),
            ("build", format!("build-{build}")),
            ("host", format!("host-{jvm:04}")),
            ("labels", String::new()),
            ("jvm_id", id.clone()),
            ("window", (number - first + 1).to_string()),
            ("window_started_ms", started.to_string()),
            ("window_ended_ms", (started + 23 * 3_600_000).to_string()),
            ("cut_paths", "count".to_owned()),
            ("open_paths", "read".to_owned()),
        ];
        let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
        profile
            .run
            .facts
            .append(facts.map(|(name, value)| (name.to_owned(), value)).collect());
        (format!("{id}-{:08}.trodden", number - first + 1), profile)
    }
}

/// Sends a part of all executions from the path that is usually the most frequent one to the next.
fn divert(counts: &mut MethodCounts, usual: &MethodCounts, part: f64) {
    let all: u64 = counts.paths.values().sum();
    let mut by_count: Vec<(u64, u64)> = usual.paths.iter().map(|(&path, &count)| (count, path)).collect();
    by_count.sort_unstable_by(|one, other| other.cmp(one));
    if let [(_, from), (_, to), ..] = by_count[..] {
        let moved = ((all as f64 * part) as u64).min(counts.paths[&from]);
        counts.paths.entry(from).and_modify(|count| *count -= moved);
        counts.paths.entry(to).and_modify(|count| *count += moved);
    }
}

/// The parts of a finding that are judged.
#[derive(Deserialize)]
struct Said {
    findings: Vec<SaidFinding>,
    series: u64,
}

#[derive(Deserialize)]
struct SaidFinding {
    method: SaidMethod,
    from: Day,
    seen: Day,
    moved: Option<serde_json::Value>,
    events: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct SaidMethod {
    class: String,
    method: String,
}

fn judge(truth: &Path, said: &Path, within: i32) -> Result<(), Box<dyn Error>> {
    let truth: Truth = serde_json::from_str(&std::fs::read_to_string(truth)?)?;
    let said: Said = serde_json::from_str(&std::fs::read_to_string(said)?)?;
    let is_of = |change: &Change, finding: &SaidFinding| {
        let same = finding.method.class == change.class && finding.method.method == change.method;
        same && (finding.from.0 - change.day.0).abs() <= 2
    };
    let mut by_size = [(0, 0, 0); 4];
    for change in &truth.changes {
        let found: Vec<&SaidFinding> = said
            .findings
            .iter()
            .filter(|finding| is_of(change, finding))
            .collect();
        // The day of the change is the first of them.
        let in_time = found.iter().any(|finding| finding.seen.0 < change.day.0 + within);
        let size = change.size.abs();
        let class = if change.kind == "path" {
            3
        } else {
            usize::from(size >= 0.001) + usize::from(size >= 0.005)
        };
        by_size[class].0 += 1;
        by_size[class].1 += usize::from(in_time);
        by_size[class].2 += usize::from(!found.is_empty());
        if found.is_empty() {
            println!("missed: {change:?}");
        }
    }
    let titles = [
        "costs, 0.05 to 0.1 %",
        "costs, 0.1 to 0.5 %",
        "costs, 0.5 % and more",
        "shares of paths",
    ];
    for (title, (planted, in_time, found)) in titles.iter().zip(by_size) {
        println!("{title}: {planted} planted, {in_time} found within {within} days, {found} at all");
    }
    let planted = |finding: &SaidFinding| truth.changes.iter().any(|change| is_of(change, finding));
    let others: Vec<&SaidFinding> = said.findings.iter().filter(|finding| !planted(finding)).collect();
    let is_moved = |finding: &&&SaidFinding| finding.moved.is_some();
    for finding in others.iter().filter(|finding| finding.moved.is_none()) {
        let SaidMethod { class, method } = &finding.method;
        let decoys = truth
            .decoys
            .iter()
            .filter(|decoy| (decoy.day.0 - finding.from.0).abs() <= 1);
        let near: Vec<&str> = decoys.map(|decoy| decoy.kind.as_str()).collect();
        println!(
            "false: {class}.{method} from {} seen {} {near:?} {:?}",
            finding.from, finding.seen, finding.events
        );
    }
    let moved = others.iter().filter(is_moved).count();
    let weeks = f64::from(truth.days - FIRST_CHANGE) / 7.0;
    println!(
        "{} false alarms in {weeks:.1} weeks of {} series; {moved} findings named as moved; {} decoys",
        others.len() - moved,
        said.series,
        truth.decoys.len()
    );
    Ok(())
}
