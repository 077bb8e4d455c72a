//! Recordings of a made server on several hosts, whose requests are slow for a planted reason: made of the paths of a real program.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trodden_profile::facts::Facts;
use trodden_profile::{MethodCounts, MethodPart, Profile, RequestName, RequestSample, Requests};

use crate::fleet::{DAY_MS, FIRST_MS, Random, SERVICE, seed};

/// Hosts.
pub const HOSTS: u32 = 4;
/// The name of the requests.
pub const NAME: &str = "shop.Server#handle";
/// Nanoseconds.
pub const MS: u64 = 1_000_000;
/// A bound between two bands: 2^24 nanoseconds.
pub const LIMIT: u64 = 1 << 24;

/// Causes of slow requests of a made server.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Of each host.
    pub requests: u64,
    /// One of this number of requests takes the outcome.
    pub rare: u64,
    /// Time that it takes in addition.
    pub longer: u64,
    /// One of this number of the others takes 40 ms as well, most of it in a collection.
    pub collected: u64,
}

/// The class and method of `lookup`, and its paths with and without the outcome `hit != null → no`.
struct Lookup {
    place: (u32, u32),
    with: u64,
    without: u64,
}

fn place(profile: &Profile, name: &str) -> (u32, u32) {
    let methods = profile.classes.iter().enumerate().flat_map(|(at, class)| {
        let methods = class.map.methods.iter().enumerate();
        methods.map(move |(method, map)| ((at as u32, method as u32), map))
    });
    let mut found = methods.filter(|(_, map)| map.name == name);
    found
        .next()
        .map(|(place, _)| place)
        .expect("there is such a method")
}

impl Lookup {
    fn of(profile: &Profile) -> Lookup {
        let place = place(profile, "lookup");
        let class = &profile.classes[place.0 as usize];
        let counts = &class.counts[place.1 as usize];
        let map = &class.map.methods[place.1 as usize];
        let mut numbers: Vec<u64> = counts.paths.keys().copied().collect();
        // The most common one is that of a hit.
        numbers.sort_by_key(|number| std::cmp::Reverse(counts.paths[number]));
        assert!(numbers.len() > 1, "{}", map.name);
        Lookup {
            place,
            without: numbers[0],
            with: numbers[1],
        }
    }
}

/// A recording of a host.
pub fn recording(host: u32, plan: Plan) -> Profile {
    let mut profile = seed("one.trodden", 1);
    let lookup = Lookup::of(&profile);
    let mut random = Random(u64::from(host) + 1);
    // Paths that have nothing to do with it: of all other methods.
    let others = profile.classes.iter().enumerate().flat_map(|(at, class)| {
        let counts = class.counts.iter().enumerate();
        counts.flat_map(move |(method, counts)| {
            let numbers = counts.paths.keys();
            numbers.map(move |&number| ((at as u32, method as u32), number))
        })
    });
    let others: Vec<((u32, u32), u64)> = others.filter(|(place, _)| *place != lookup.place).collect();
    let mut vectors = Vec::new();
    let mut latencies: BTreeMap<u64, u64> = BTreeMap::new();
    let mut samples = Vec::new();
    for request in 0..plan.requests {
        let is_planted = random.below(plan.rare) == 0;
        let is_collected = !is_planted && random.below(plan.collected) == 0;
        let mut paths: BTreeMap<(u32, u32), BTreeMap<u64, u64>> = BTreeMap::new();
        for _ in 0..6 {
            let (place, number) = others[random.below(others.len() as u64) as usize];
            *paths.entry(place).or_default().entry(number).or_default() += 1 + random.below(3);
        }
        let of = paths.entry(lookup.place).or_default();
        *of.entry(lookup.without).or_default() += 1 + random.below(5);
        if is_planted {
            of.insert(lookup.with, 1);
        }
        let collections_ns = if is_collected { 36 * MS } else { 0 };
        let longer = if is_planted { plan.longer } else { 0 };
        let latency_ns = MS + random.below(8 * MS) + longer + collections_ns;
        *latencies.entry(latency_ns).or_default() += 1;
        // Of the others a third is kept; each represents three.
        let is_slow = latency_ns >= LIMIT;
        if is_slow || request.is_multiple_of(3) {
            samples.push(RequestSample {
                latency_ns,
                cpu_ns: Some(latency_ns - collections_ns),
                collections_ns,
                weight: if is_slow { 1.0 } else { 3.0 },
                vector: vectors.len() as u32,
            });
            let part = |((class, method), paths): ((u32, u32), BTreeMap<u64, u64>)| MethodPart {
                class,
                method,
                counts: MethodCounts {
                    paths: paths.into_iter().collect(),
                    ..MethodCounts::default()
                },
            };
            vectors.push(paths.into_iter().map(part).collect());
        }
    }
    profile.requests = Some(Requests {
        names: vec![RequestName {
            name: NAME.to_owned(),
            latencies: latencies.into_iter().collect(),
            unreadable: 2,
            samples,
        }],
        vectors,
        reading_ns: 1_000,
    });
    // The last day of the small fleet.
    let started = FIRST_MS + 5 * DAY_MS + u64::from(host);
    profile.run.started_ms = started;
    let facts = [
        ("service", SERVICE.to_owned()),
        ("build", "one".to_owned()),
        ("host", format!("host-{host:04}")),
        ("jvm_id", format!("{host:032x}")),
        ("window", "1".to_owned()),
        ("window_started_ms", started.to_string()),
        ("window_ended_ms", (started + 60_000).to_string()),
        ("window_last", "true".to_owned()),
    ];
    profile.run.facts = facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect::<Facts>();
    profile
}

/// One in sixty requests is slow by the outcome, one in 300 by a collection.
pub const PLANTED: Plan = Plan {
    requests: 3_000,
    rare: 60,
    longer: 30 * MS,
    collected: 300,
};

/// Writes the recording of each host into a folder.
pub fn write(folder: &Path, plan: Plan) -> Vec<PathBuf> {
    let write = |host: u32| {
        let file = folder.join(format!("requests-{host}.trodden"));
        std::fs::write(&file, recording(host, plan).to_bytes().unwrap()).unwrap();
        file
    };
    (0..HOSTS).map(write).collect()
}
