//! A made-up server whose requests are slow for planned reasons.

use std::collections::BTreeMap;

use trodden_profile::BlockExit::{Branch, FallThrough, Goto, Return};
use trodden_profile::{
    Condition, ConditionKind, MethodConditions, MethodCounts, MethodPart, Outcome, Profile, RequestName,
    RequestSample, Requests,
};

use super::{Method, Random, class, run};

const MS: f64 = 1e6;
/// Decisions of each method of noise.
const NOISES: usize = 6;

/// Chances of each reason for slowness, and the server.
#[derive(Clone, Debug)]
pub struct Plan {
    pub requests: usize,
    pub seed: u64,
    /// `lookup`, line 17 → no: 38 ms.
    pub miss: f64,
    /// `retry`, line 41 → again, one to three times: 12 ms each.
    pub retry: f64,
    /// `handle`, line 11 → again, 1,500 to 2,500 times where others have 10 to 60: 0.02 ms each.
    pub large: f64,
    /// `render`, line 50 → taken: 25 ms.
    pub branch: f64,
    /// `lock`, line 60 → taken: 30 ms without a processor.
    pub lock: f64,
    /// `pair`, lines 70 and 71, each with this chance: 30 ms if both are not taken, which only a path tells.
    pub pair: Option<f64>,
    /// A collection of 30 to 45 ms.
    pub collection: f64,
    /// 40 ms without a processor, wherever that is.
    pub waiting: f64,
    /// Methods with six decisions each that have nothing to do with latencies.
    pub noise: usize,
    /// Of the requests that are not slow one in this number is kept.
    pub kept: u64,
    /// Requests of which the others are repetitions, apart from their reasons and times; 0 if each is one of its own.
    pub pool: usize,
    /// Skewed latencies, for no reason in the code.
    pub tail: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            requests: 20_000,
            seed: 1,
            miss: 0.0,
            retry: 0.0,
            large: 0.0,
            branch: 0.0,
            lock: 0.0,
            pair: None,
            collection: 0.0,
            waiting: 0.0,
            noise: 10,
            kept: 10,
            pool: 0,
            tail: false,
        }
    }
}

/// Methods of the server, by their position.
const HANDLE: u32 = 0;
const LOOKUP: u32 = 1;
const BUILD: u32 = 2;
const RETRY: u32 = 3;
const RENDER: u32 = 4;
const LOCK: u32 = 5;
const PAIR: u32 = 6;
const FIRST_NOISE: u32 = 7;

fn handle() -> Method {
    Method::new("handle", "()V")
        .block(&[10], FallThrough, &[1])
        .block(&[11], Branch, &[5, 2])
        .block(&[12], Branch, &[4, 3])
        .block(&[13], FallThrough, &[4])
        .block(&[14], Goto, &[1])
        .block(&[15], Return, &[])
}

fn lookup() -> Method {
    Method::new("lookup", "(I)Ldemo/Table;")
        .block(&[17], Branch, &[2, 1])
        .block(&[18], FallThrough, &[2])
        .block(&[19], Return, &[])
}

fn build() -> Method {
    Method::new("build", "()Ldemo/Table;")
        .block(&[30], FallThrough, &[1])
        .block(&[30], Branch, &[5, 2])
        .block(&[31], Branch, &[4, 3])
        .block(&[32], FallThrough, &[4])
        .block(&[33], Goto, &[1])
        .block(&[34], Return, &[])
}

fn retry() -> Method {
    Method::new("retry", "()V")
        .block(&[40], FallThrough, &[1])
        .block(&[41], Branch, &[3, 2])
        .block(&[42], Goto, &[1])
        .block(&[43], Return, &[])
}

fn two_ways(name: &str, line: u32) -> Method {
    Method::new(name, "()V")
        .block(&[line], Branch, &[2, 1])
        .block(&[line + 1], FallThrough, &[3])
        .block(&[line + 2], FallThrough, &[3])
        .block(&[line + 3], Return, &[])
}

fn pair() -> Method {
    Method::new("pair", "()V")
        .block(&[70], Branch, &[2, 1])
        .block(&[70], FallThrough, &[2])
        .block(&[71], Branch, &[4, 3])
        .block(&[71], FallThrough, &[4])
        .block(&[72], Return, &[])
}

fn noise(number: usize) -> Method {
    let mut method = Method::new(&format!("noise{number}"), "()V");
    for at in 0..NOISES {
        let (block, line) = (2 * at, 100 + at as u32);
        method =
            method
                .block(&[line], Branch, &[block + 2, block + 1])
                .block(&[line], FallThrough, &[block + 2]);
    }
    method.block(&[120], Return, &[])
}

/// Numbers of the paths that requests take.
struct Paths {
    handle: [u64; 4],
    lookup: [u64; 2],
    build: [u64; 4],
    retry: [u64; 3],
    two_ways: [u64; 2],
    pair: [u64; 4],
    noise: Vec<u64>,
}

impl Paths {
    fn new() -> Self {
        let of = |method: &Method, blocks: &[usize]| method.number(blocks);
        let noise = noise(0);
        let through = |ways: usize| {
            let blocks = (0..NOISES).flat_map(|at| {
                let on = ways >> at & 1 == 1;
                std::iter::once(2 * at).chain(on.then_some(2 * at + 1))
            });
            noise.number(&blocks.chain([2 * NOISES]).collect::<Vec<_>>())
        };
        Paths {
            handle: [&[0][..], &[1, 2, 4], &[1, 2, 3, 4], &[1, 5]].map(|b| of(&handle(), b)),
            lookup: [&[0, 2][..], &[0, 1, 2]].map(|b| of(&lookup(), b)),
            build: [&[0][..], &[1, 2, 4], &[1, 2, 3, 4], &[1, 5]].map(|b| of(&build(), b)),
            retry: [&[0][..], &[1, 2], &[1, 3]].map(|b| of(&retry(), b)),
            two_ways: [&[0, 1, 3][..], &[0, 2, 3]].map(|b| of(&two_ways("x", 50), b)),
            pair: [&[0, 2, 4][..], &[0, 1, 2, 4], &[0, 2, 3, 4], &[0, 1, 2, 3, 4]].map(|b| of(&pair(), b)),
            noise: (0..1 << NOISES).map(through).collect(),
        }
    }
}

/// The reasons of one request, by the plan: the oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    pub miss: bool,
    pub retries: u64,
    pub large: bool,
    pub branch: bool,
    pub lock: bool,
    pub pair: [bool; 2],
    pub collection: bool,
    pub waiting: bool,
}

/// Paths of a request that has no reason to be slow.
struct Usual {
    items: u64,
    special: u64,
    noise: Vec<usize>,
}

fn usual(plan: &Plan, unit: &mut impl FnMut() -> f64) -> Usual {
    let items = 10 + (unit() * 50.0) as u64;
    // Some ways are common, some are rare.
    let mut ways = || {
        let ways = (0..NOISES).filter(|at| unit() < [0.5, 0.1, 0.9, 0.02, 0.3, 0.7][*at]);
        ways.fold(0, |sum, at| sum | 1 << at)
    };
    Usual {
        items,
        noise: (0..plan.noise).map(|_| ways()).collect(),
        special: (0..items).filter(|_| unit() < 0.3).count() as u64,
    }
}

/// The profile, and the reasons of each of its samples.
pub fn server(plan: &Plan) -> (Profile, Vec<Reasons>) {
    let paths = Paths::new();
    let mut random = Random(plan.seed);
    for _ in 0..10 {
        random.below(2);
    }
    let mut unit = move || random.below(1 << 30) as f64 / f64::from(1 << 30);
    let mut requests = Requests::default();
    let mut vectors: BTreeMap<Vec<(u32, u64, u64)>, u32> = BTreeMap::new();
    let mut latencies: BTreeMap<u64, u64> = BTreeMap::new();
    let mut all: Vec<(RequestSample, Reasons)> = Vec::new();
    let pool: Vec<Usual> = (0..plan.pool).map(|_| usual(plan, &mut unit)).collect();
    for _ in 0..plan.requests {
        let why = Reasons {
            miss: unit() < plan.miss,
            retries: if unit() < plan.retry {
                1 + (unit() * 3.0) as u64
            } else {
                0
            },
            large: unit() < plan.large,
            branch: unit() < plan.branch,
            lock: unit() < plan.lock,
            pair: [0; 2].map(|_| unit() < plan.pair.unwrap_or(0.1)),
            collection: unit() < plan.collection,
            waiting: unit() < plan.waiting,
        };
        let fresh = if plan.pool > 0 {
            None
        } else {
            Some(usual(plan, &mut unit))
        };
        let usual = fresh
            .as_ref()
            .unwrap_or_else(|| &pool[(unit() * plan.pool as f64) as usize]);
        let items = if why.large {
            1_500 + (unit() * 1_000.0) as u64
        } else {
            usual.items
        };
        let mut row = vec![
            (HANDLE, paths.handle[0], 1),
            (HANDLE, paths.handle[1], items - usual.special),
            (HANDLE, paths.handle[2], usual.special),
            (HANDLE, paths.handle[3], 1),
            (LOOKUP, paths.lookup[usize::from(why.miss)], 1),
            (RETRY, paths.retry[0], 1),
            (RETRY, paths.retry[1], why.retries),
            (RETRY, paths.retry[2], 1),
            (RENDER, paths.two_ways[usize::from(why.branch)], 1),
            (LOCK, paths.two_ways[usize::from(why.lock)], 1),
            (
                PAIR,
                paths.pair[usize::from(why.pair[0]) + 2 * usize::from(why.pair[1])],
                1,
            ),
        ];
        if why.miss {
            // What a miss does; others never do.
            row.extend([
                (BUILD, paths.build[0], 1),
                (BUILD, paths.build[1], 300 + (unit() * 30.0) as u64),
                (BUILD, paths.build[2], (unit() * 9.0) as u64),
                (BUILD, paths.build[3], 1),
            ]);
        }
        for (method, &ways) in (FIRST_NOISE..).zip(&usual.noise) {
            row.push((method, paths.noise[ways], 1));
        }
        let mut cpu = (1.6 + 0.4 * unit() + 0.2 * (unit() + unit())) * MS;
        // Rounds cost next to nothing where they are no reason.
        cpu += items as f64 * if plan.large > 0.0 { 0.02 * MS } else { 1.0 };
        if plan.tail {
            cpu *= (1.0 - unit()).powf(-0.6);
        }
        cpu += if why.miss { (37.0 + 2.0 * unit()) * MS } else { 0.0 };
        cpu += why.retries as f64 * (11.8 + 0.4 * unit()) * MS;
        cpu += if why.branch {
            (24.0 + 2.0 * unit()) * MS
        } else {
            0.0
        };
        let is_pair = plan.pair.is_some() && why.pair == [true; 2];
        cpu += if is_pair { (29.0 + 2.0 * unit()) * MS } else { 0.0 };
        let mut waits = 0.02 * unit() * MS;
        waits += if why.lock { (28.0 + 4.0 * unit()) * MS } else { 0.0 };
        waits += if why.waiting {
            (35.0 + 10.0 * unit()) * MS
        } else {
            0.0
        };
        let collections = if why.collection {
            (30.0 + 15.0 * unit()) * MS
        } else {
            0.0
        };
        row.retain(|&(.., count)| count > 0);
        let next = vectors.len() as u32;
        let latency = (cpu + waits + collections) as u64;
        *latencies.entry(latency).or_default() += 1;
        let sample = RequestSample {
            latency_ns: latency,
            cpu_ns: Some(cpu as u64),
            collections_ns: collections as u64,
            weight: 1.0,
            vector: *vectors.entry(row).or_insert(next),
        };
        all.push((sample, why));
    }
    // As a reservoir does: all of the slowest, one of some of the others.
    let mut sorted: Vec<u64> = all.iter().map(|(sample, _)| sample.latency_ns).collect();
    sorted.sort_unstable();
    let slow = sorted.get(sorted.len() * 98 / 100).copied().unwrap_or(0);
    let mut kept: Vec<(RequestSample, Reasons)> = Vec::new();
    for (mut sample, why) in all {
        let is_slow = sample.latency_ns >= slow;
        if is_slow || unit() < 1.0 / plan.kept as f64 {
            sample.weight = if is_slow { 1.0 } else { plan.kept as f64 };
            kept.push((sample, why));
        }
    }
    let part = |rows: &[(u32, u64, u64)]| {
        let mut methods: BTreeMap<u32, MethodCounts> = BTreeMap::new();
        for &(method, path, count) in rows {
            *methods.entry(method).or_default().paths.entry(path).or_default() += count;
        }
        let part = |(method, counts)| MethodPart {
            class: 0,
            method,
            counts,
        };
        methods.into_iter().map(part).collect::<Vec<_>>()
    };
    requests.vectors = vec![Vec::new(); vectors.len()];
    for (row, at) in &vectors {
        requests.vectors[*at as usize] = part(row);
    }
    let (samples, reasons) = kept.into_iter().unzip();
    requests.reading_ns = 1_000_000;
    requests.names = vec![RequestName {
        name: "demo.Server#handle".to_owned(),
        latencies: latencies.into_iter().collect(),
        unreadable: 0,
        samples,
    }];
    let mut methods = vec![
        handle(),
        lookup(),
        build(),
        retry(),
        two_ways("render", 50),
        two_ways("lock", 60),
        pair(),
    ];
    methods.extend((0..plan.noise).map(noise));
    for vector in &requests.vectors {
        for of in vector {
            let counts = &mut methods[of.method as usize].counts;
            for (&path, &count) in &of.counts.paths {
                *counts.paths.entry(path).or_default() += count;
            }
        }
    }
    let mut profile = Profile {
        run: run(true),
        classes: vec![class("demo/Server", Some("Server.java"), methods)],
        requests: Some(requests),
        ..Profile::default()
    };
    let condition = |text: &str, kind, outcomes: [Outcome; 2]| MethodConditions {
        conditions: vec![Condition {
            block: u32::from(kind == ConditionKind::For),
            kind,
            text: Some(text.into()),
            outcomes: outcomes.to_vec(),
            made: None,
        }],
        ..MethodConditions::default()
    };
    let yes = [Outcome::Yes, Outcome::No];
    let again = [Outcome::Done, Outcome::Again];
    profile
        .conditions
        .insert((0, HANDLE), condition("i < n", ConditionKind::For, again));
    profile
        .conditions
        .insert((0, LOOKUP), condition("table != null", ConditionKind::If, yes));
    (profile, reasons)
}
