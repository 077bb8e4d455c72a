//! Requests: written, read, merged, refused.

use proptest::prelude::*;

use crate::common::{class, paths, profile, two_ifs};
use trodden_profile::{
    MethodCounts, MethodPart, Profile, RequestName, RequestSample, Requests, SubtractError, merge, subtract,
};

fn part(method: u32, counts: MethodCounts) -> MethodPart {
    MethodPart {
        class: 0,
        method,
        counts,
    }
}

fn sample(latency_ns: u64, vector: u32) -> RequestSample {
    RequestSample {
        latency_ns,
        cpu_ns: latency_ns.checked_sub(100),
        collections_ns: latency_ns / 7,
        weight: 2.5,
        vector,
    }
}

fn name(name: &str, latencies: &[(u64, u64)], samples: Vec<RequestSample>) -> RequestName {
    RequestName {
        name: name.to_owned(),
        latencies: latencies.to_vec(),
        unreadable: 3,
        samples,
    }
}

/// A class with two methods of four paths. `heavy`: which way of the method's first branch is numbered 0.
fn run(heavy: Option<[[f64; 2]; 2]>, requests: Requests) -> Profile {
    let methods = vec![
        (two_ifs("a", heavy), paths(&[(0, 30), (1, 20), (3, 7)])),
        (two_ifs("b", heavy), paths(&[])),
    ];
    let mut profile = profile(vec![class("a/A", 1, methods)]);
    profile.requests = Some(requests);
    profile
}

fn requests() -> Requests {
    let mut cut = paths(&[(1, 5)]);
    cut.partial.insert((3, 0), 2);
    Requests {
        names: vec![
            name(
                "a.A#a",
                &[(90, 3), (5_000, 1)],
                vec![sample(90, 1), sample(5_000, 0)],
            ),
            name("checkout", &[(1 << 40, 1)], Vec::new()),
        ],
        vectors: vec![vec![part(0, paths(&[(0, 4)])), part(1, cut)], Vec::new()],
        reading_ns: 77,
    }
}

#[test]
fn what_is_written_is_read() {
    for requests in [Requests::default(), requests()] {
        let before = run(None, requests);
        assert_eq!(Profile::read(&before.to_bytes().unwrap()).unwrap(), before);
    }
}

#[test]
fn requests_of_the_same_name_are_added_up() {
    let one = run(None, requests());
    let mut other = run(None, requests());
    let of_other = other.requests.as_mut().unwrap();
    of_other.names[0] = name("a.A#a", &[(90, 1), (91, 4)], vec![sample(91, 0)]);
    of_other.names.remove(1);
    let merged = merge([&one, &other]).unwrap().requests.unwrap();
    let mut expected = requests();
    expected.vectors.extend(requests().vectors);
    expected.reading_ns = 154;
    expected.names[0] = RequestName {
        unreadable: 6,
        ..name(
            "a.A#a",
            &[(90, 4), (91, 4), (5_000, 1)],
            vec![sample(90, 1), sample(5_000, 0), sample(91, 2)],
        )
    };
    assert_eq!(merged, expected);
}

/// Paths keep what they are where the other profile numbers them in another way.
#[test]
fn paths_of_samples_are_renumbered_with_the_profile() {
    let [one, other] = [None, Some([[9.0, 1.0], [1.0, 9.0]])].map(|heavy| run(heavy, requests()));
    let merged = merge([&one, &other]).unwrap();
    let vectors = &merged.requests.as_ref().unwrap().vectors;
    let own = |profile: &Profile, vector: usize| {
        let part = &profile.requests.as_ref().unwrap().vectors[vector][0];
        let map = &profile.classes[0].map.methods[part.method as usize];
        let path = *part.counts.paths.keys().next().unwrap();
        map.describe(path).unwrap().blocks
    };
    assert_eq!(vectors.len(), 4);
    assert_eq!(own(&merged, 0), own(&one, 0));
    assert_eq!(own(&merged, 2), own(&other, 0));
}

#[test]
fn broken_requests_are_refused() {
    let broken: [fn(&mut Requests); 7] = [
        |r| r.names.swap(0, 1),
        |r| r.names[0].latencies.swap(0, 1),
        |r| r.names[0].samples[0].vector = 2,
        |r| r.names[0].samples[0].weight = f64::NAN,
        |r| r.names[0].samples[0].weight = -1.0,
        |r| r.vectors[0][1].method = 2,
        |r| r.vectors[0][0].counts = paths(&[(4, 1)]),
    ];
    for (number, change) in broken.iter().enumerate() {
        let mut requests = requests();
        change(&mut requests);
        assert!(run(None, requests).to_bytes().is_err(), "{number}");
    }
}

/// A reservoir may have dropped samples of an earlier reading.
#[test]
fn samples_are_not_subtracted() {
    let run = run(None, requests());
    let refused = subtract(&run, &run);
    assert!(
        matches!(refused, Err(SubtractError::Estimates { .. })),
        "{refused:?}"
    );
}

proptest! {
    /// A quantile is that of the sorted list of all latencies.
    #[test]
    fn quantiles_are_those_of_the_sorted_list(
        mut latencies in prop::collection::btree_map(1u64..1_000, 1u64..20, 1..30),
        share in 0.0f64..=1.0,
    ) {
        latencies.retain(|_, count| *count > 0);
        let latencies: Vec<(u64, u64)> = latencies.into_iter().collect();
        let all: Vec<u64> = latencies
            .iter()
            .flat_map(|&(latency, count)| std::iter::repeat_n(latency, count as usize))
            .collect();
        let rank = ((share * all.len() as f64).ceil() as usize).clamp(1, all.len());
        prop_assert_eq!(name("n", &latencies, Vec::new()).quantile(share), Some(all[rank - 1]));
    }
}
