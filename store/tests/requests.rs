//! Slow requests of several hosts, made of the paths of a real program: the question names the outcome that was planted, and sums are
//! those that a count by hand gives.

mod fleet;
mod slow;
mod support;

use std::collections::BTreeMap;

use slow::{HOSTS, LIMIT, NAME, PLANTED, Plan, recording};
use support::{Kept, ask, given, sql};
use trodden_numbering::{BlockId, EdgeRef};
use trodden_profile::{ClassMap, Profile, RequestName, edge_key};
use trodden_store::query::Value;
use trodden_store::{AddOptions, Adder, CompactOptions};

/// A store with a recording of each host, each in a delivery of its own.
async fn stored(plan: Plan) -> (Kept, Vec<Profile>) {
    let kept = support::empty().await;
    let mut adder = Adder::new(&kept.store);
    for file in slow::write(kept.folder.path(), plan) {
        let added = adder.add(&[file], &AddOptions::default()).await.unwrap();
        assert_eq!(added.windows, 1);
    }
    let profiles = (0..HOSTS).map(|host| recording(host, plan)).collect();
    (kept, profiles)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_planted_outcome_is_named_and_no_other() {
    let (kept, profiles) = stored(PLANTED).await;
    let asked = ask(&kept, "slow-requests", &given(&[("over_ms", "15")])).await;
    let answer = &asked.answer;
    let get = |row: usize, name: &str| answer.get(&answer.rows[row], name).clone();
    let methods: Vec<String> = (0..answer.rows.len())
        .map(|row| get(row, "method").plain())
        .collect();
    assert_eq!(methods, ["lookup", "[collections]"], "{}", answer.text(9));
    assert_eq!(get(0, "outcome"), Value::Text("no".to_owned()));
    assert_eq!(get(0, "condition"), Value::Text("hit != null".to_owned()));
    assert_eq!(get(0, "request"), Value::Text(NAME.to_owned()));
    assert_eq!(
        (get(0, "hosts"), get(0, "of_hosts")),
        (Value::Number(4), Value::Number(4))
    );
    // Counted from the recordings themselves.
    let all = profiles.iter().flat_map(|profile| &profile.requests);
    let names: Vec<&RequestName> = all.flat_map(|requests| &requests.names).collect();
    let latencies = || names.iter().flat_map(|name| &name.latencies);
    let slow: u64 = latencies()
        .filter(|(latency, _)| *latency >= LIMIT)
        .map(|(_, count)| count)
        .sum();
    // The bound above which there are requests.
    let least = latencies().map(|(latency, _)| *latency);
    let least = least.filter(|latency| *latency >= LIMIT).min().unwrap() as f64 / 1e6;
    let over = get(0, "over_ms").float().unwrap();
    assert!(over <= least && least < over * 1.2, "{over} {least}");
    assert_eq!(get(0, "slow"), Value::Number(slow as i64));
    assert_eq!(
        get(0, "requests"),
        Value::Number(i64::from(HOSTS) * PLANTED.requests as i64)
    );
    let collected = names.iter().flat_map(|name| &name.samples);
    let collected = collected.filter(|sample| sample.collections_ns > 0).count() as f64;
    let share = |row: usize| get(row, "slow_share").float().unwrap();
    assert!((share(1) - collected / slow as f64).abs() < 1e-5, "{}", share(1));
    assert!(
        (share(0) + share(1) - 1.0).abs() < 1e-5,
        "{} {}",
        share(0),
        share(1)
    );
    assert_eq!(get(0, "other_share"), Value::Float(0.0));
    let took = |name: &str| get(0, name).float().unwrap();
    assert!((31.0..39.0).contains(&took("with_ms")) && took("without_ms") < 6.0);

    // Without a limit: the slowest hundredth is the nearest bound, and the outcome is the same.
    let asked = ask(&kept, "slow-requests", &[]).await;
    assert_eq!(
        asked.answer.get(&asked.answer.rows[0], "method").text(),
        Some("lookup")
    );
    // Half of it explains less than is asked for.
    let given = given(&[("over_ms", "15"), ("min_share", "0.9")]);
    let asked = ask(&kept, "slow-requests", &given).await;
    assert_eq!(asked.answer.rows.len(), 1);
    let text = asked.answer.text(9);
    assert!(text.contains("[nothing found]"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chance_is_not_blamed() {
    for seed in 0..5 {
        let plan = Plan {
            requests: 2_000 + seed,
            longer: 0,
            collected: u64::MAX,
            ..PLANTED
        };
        let (kept, _) = stored(plan).await;
        for slowest in ["0.01", "0.1", "0.5"] {
            let asked = ask(&kept, "slow-requests", &given(&[("slowest", slowest)])).await;
            let methods: Vec<&str> = asked
                .answer
                .rows
                .iter()
                .filter_map(|row| asked.answer.get(row, "method").text())
                .collect();
            assert_eq!(methods, ["[nothing found]"], "{}", asked.answer.text(9));
        }
    }
}

/// Slow, other: weights in thousandths, and samples, by the key of an outcome.
type Sums = BTreeMap<String, [i64; 3]>;

/// A path decoded, without the store's code.
fn by_hand(profiles: &[Profile]) -> Sums {
    let mut sums = Sums::new();
    for profile in profiles {
        let requests = profile.requests.as_ref().unwrap();
        for sample in requests.names.iter().flat_map(|name| &name.samples) {
            let mut met: BTreeMap<String, ()> = BTreeMap::new();
            for part in &requests.vectors[sample.vector as usize] {
                let map: &ClassMap = &profile.classes[part.class as usize].map;
                let method = &map.methods[part.method as usize];
                for number in part.counts.paths.keys() {
                    let path = method.path(*number, None).unwrap();
                    for edge in method.decided(&path.edges) {
                        let edge = EdgeRef {
                            from: BlockId::new(edge.from.index()),
                            index: edge.index,
                        };
                        met.insert(edge_key(method.graph_key(), edge).to_string(), ());
                    }
                }
            }
            for key in met.into_keys() {
                let of = sums.entry(key).or_default();
                of[usize::from(sample.latency_ns < LIMIT)] += (sample.weight * 1000.0) as i64;
                of[2] += 1;
            }
        }
    }
    sums
}

async fn in_store(kept: &Kept) -> Sums {
    let question = format!(
        "SELECT edge, sum(CASE WHEN from_ns >= {LIMIT} THEN weight ELSE 0 END) AS slow,
           sum(CASE WHEN from_ns >= {LIMIT} THEN 0 ELSE weight END) AS other, sum(samples) AS samples
         FROM request_edge_days GROUP BY edge"
    );
    let answer = sql(kept, &question).await;
    let row = |row: &Vec<Value>| {
        let number = |name: &str| answer.get(row, name).number().unwrap();
        let sums = ["slow", "other", "samples"].map(number);
        (answer.get(row, "edge").plain(), sums)
    };
    answer.rows.iter().map(row).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_are_those_of_a_count_by_hand_before_and_after_compaction() {
    let (kept, profiles) = stored(PLANTED).await;
    let expected = by_hand(&profiles);
    assert!(expected.len() > 20, "{}", expected.len());
    assert_eq!(in_store(&kept).await, expected);
    let asked = ask(&kept, "slow-requests", &[]).await.answer.json();
    let bands = "SELECT host, request, from_ns, sum(requests) AS requests, sum(unreadable) AS unreadable, sum(weight) AS weight, \
                 sum(squares) AS squares FROM request_days GROUP BY host, request, from_ns ORDER BY host, request, from_ns";
    let before = sql(&kept, bands).await.csv();
    kept.store.compact(&CompactOptions::default()).await.unwrap();
    assert_eq!(in_store(&kept).await, expected);
    assert_eq!(sql(&kept, bands).await.csv(), before);
    assert_eq!(ask(&kept, "slow-requests", &[]).await.answer.json(), asked);
    assert_eq!(kept.store.verify().await.unwrap().problems, Vec::<String>::new());
    let unreadable = sql(
        &kept,
        "SELECT sum(unreadable) AS n, sum(requests) AS all FROM request_days",
    )
    .await;
    assert_eq!(unreadable.rows[0], [Value::Number(8), Value::Number(12_000)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_requests_the_answer_says_so() {
    let (_, kept) = support::small().await;
    let asked = ask(&kept, "slow-requests", &[]).await;
    assert!(asked.answer.rows.is_empty());
    let said = asked.answer.nothing_there.unwrap();
    assert!(said.starts_with("no window has requests since "), "{said}");
}

/// Each column has a meaning in the schema, and values are of the types that it says.
#[tokio::test(flavor = "multi_thread")]
async fn json_is_as_its_schema_says() {
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema/trodden-query.schema.json");
    let schema: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let row = &schema["$defs"]["slow-request"];
    let properties = row["properties"].as_object().unwrap();
    let (found, _) = stored(PLANTED).await;
    let (nothing, _) = stored(Plan { longer: 0, ..PLANTED }).await;
    let mut rows = 0;
    for kept in [&found, &nothing] {
        let json = ask(kept, "slow-requests", &given(&[("over_ms", "15")]))
            .await
            .answer
            .json();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        for key in schema["required"].as_array().unwrap() {
            assert!(json.get(key.as_str().unwrap()).is_some(), "{key}");
        }
        for one in json["rows"].as_array().unwrap() {
            let one = one.as_object().unwrap();
            assert!(one.keys().eq(properties.keys()), "{one:?}");
            for (name, value) in one {
                let of = match value {
                    serde_json::Value::Null => "null",
                    serde_json::Value::String(_) => "string",
                    value if value.is_i64() => "integer",
                    _ => "number",
                };
                let kinds = &properties[name]["type"];
                let is = |kind: &serde_json::Value| kind == of || kind == "number" && of == "integer";
                let fits = kinds
                    .as_array()
                    .map_or_else(|| is(kinds), |kinds| kinds.iter().any(is));
                assert!(fits, "{name}: {value} is no {kinds}");
            }
            rows += 1;
        }
    }
    assert!(rows >= 3, "{rows}");
}
