//! JSON, format `trodden-slow` version 1. Keys may be added; what is here keeps its name and shape.

use serde::{Serialize, Serializer};
use trodden_insight::slow::{Cause, CauseKind, Slow, SlowRequests, Spot};

use crate::object::{self, Each, Fields, Object, object};

/// JSON, format `trodden-slow` version 1.
///
/// # Errors
/// If the JSON writer fails.
pub fn json(slow: &Slow) -> std::io::Result<Vec<u8>> {
    let document = object! {
        "format": "trodden-slow",
        "version": 1,
        // Of the requests' time.
        "reading": object! {
            "seconds": slow.reading_ns as f64 / 1e9,
            "share": slow.reading_ns as f64 / slow.all_ns.max(1) as f64,
        },
        "requests": Each(slow.requests.iter().map(requests)),
    };
    let mut out = Vec::new();
    object::write(&document, &mut out)?;
    Ok(out)
}

/// The value of the key `requests` of a report.
pub(super) struct Document(pub Slow);

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Each(self.0.requests.iter().map(requests)).serialize(serializer)
    }
}

fn ms(ns: f64) -> f64 {
    ns / 1e6
}

fn requests(of: &SlowRequests) -> impl Serialize {
    let [p50, p99, p999] = of.quantiles_ns.map(|ns| (of.count > 0).then_some(ms(ns as f64)));
    object! {
        "name": &of.name,
        "count": of.count,
        "p50_ms": p50,
        "p99_ms": p99,
        "p999_ms": p999,
        "slow": object! { "over_ms": ms(of.over_ns as f64), "count": of.slow },
        // Requests whose paths were read, and the equal weights that they are worth.
        "samples": object! { "slow": of.samples[0], "other": of.samples[1] },
        "effective": object! { "slow": of.effective[0], "other": of.effective[1] },
        "enough": of.is_enough,
        "unreadable": of.unreadable,
        "causes": Each(of.causes.iter().map(cause)),
        // Of the slow requests.
        "unexplained": of.unexplained,
    }
}

fn cause(cause: &Cause) -> impl Serialize {
    let (kind, spot, more_than, least) = match &cause.kind {
        CauseKind::Outcome(spot) => ("outcome", Some(spot), Some(0), None),
        CauseKind::Size(spot, more) => ("size", Some(spot), Some(*more), None),
        CauseKind::Path(spot, more) => ("path", Some(spot), Some(*more), None),
        CauseKind::Collections(least) => ("gc", None, None, Some(*least)),
        CauseKind::Waiting(least) => ("waiting", None, None, Some(*least)),
    };
    object! {
        "kind": kind,
        ..place(spot),
        "more_than"?: more_than,
        "least_ms"?: least.map(|ns| ms(ns as f64)),
        "slow_share": cause.slow_share,
        "other_share": cause.other_share,
        "cost_ms": object! { "value": ms(cause.cost_ns), "interval": cause.interval_ns.map(ms) },
        "explains": cause.explains,
        "p_value": cause.p_value,
        "with": Each(cause.with.iter().map(|(spot, more)| object! { ..place(Some(spot)), "more_than": more })),
    }
}

/// Where something is; all `null` for what is not in the code.
fn place(spot: Option<&Spot>) -> Object<impl Fields> {
    let path = spot.and_then(|spot| spot.path.as_ref());
    object! {
        "class": spot.map(|spot| spot.class.as_str()),
        "method": spot.map(|spot| spot.method.as_str()),
        "descriptor": spot.map(|spot| spot.descriptor.as_str()),
        "line": spot.and_then(|spot| spot.line),
        "bci": spot.map(|spot| spot.bci),
        "condition": spot.and_then(|spot| spot.condition.as_deref()),
        "outcome": spot.and_then(|spot| spot.outcome.as_deref()),
        "path"?: path.map(|(number, route)| object! { "id": number, "text": route.as_str() }),
    }
}
