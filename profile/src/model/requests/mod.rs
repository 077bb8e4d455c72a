//! Requests: how long each took, and of a random part which paths they took (`trodden slow`).

mod codec;
mod merge;
pub(crate) mod section;

use crate::model::counts::MethodPart;

/// The requests of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    /// Kinds of requests, by name.
    pub names: Vec<RequestName>,
    /// Sets of paths that samples took, each once: the methods of a set are in the order of classes and methods.
    pub vectors: Vec<Vec<MethodPart>>,
    /// Nanoseconds that the readings of the samples' paths took, in the threads that had the requests.
    pub reading_ns: u64,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestName {
    /// The method that handled them, as `shop.Server#handle`, or the name of a span.
    pub name: String,
    /// Latency in nanoseconds and number of requests, in the order of latencies. A latency is that of a bucket: at
    /// most 0.1 % above the request's own.
    pub latencies: Vec<(u64, u64)>,
    /// Requests whose paths cannot be read: they changed threads, or ran where counts are shared.
    pub unreadable: u64,
    /// A random part of the others, chosen when they began.
    pub samples: Vec<RequestSample>,
}

impl RequestName {
    /// The number of requests.
    pub fn count(&self) -> u64 {
        self.latencies
            .iter()
            .fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }

    /// The latency that a share of the requests (0 to 1) does not exceed, in nanoseconds; `None` without requests.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((share * self.count() as f64).ceil() as u64).max(1);
        let mut seen = 0u64;
        let reached = |&&(_, count): &&(u64, u64)| {
            seen = seen.saturating_add(count);
            seen >= rank
        };
        self.latencies.iter().find(reached).map(|&(latency, _)| latency)
    }
}

/// A request whose paths were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestSample {
    /// How long it took, in nanoseconds: by the wall clock.
    pub latency_ns: u64,
    /// CPU time of its thread, in nanoseconds, if it could be read.
    pub cpu_ns: Option<u64>,
    /// Nanoseconds of it in which a collection had stopped the program.
    pub collections_ns: u64,
    /// The number of requests that it represents: the inverse of its chance to be chosen and kept.
    pub weight: f64,
    /// Index of its paths among the vectors.
    pub vector: u32,
}
