//! The section about methods that were counted for a part of the run, both ways.

use super::error::Problem;
use super::wire::{Decoded, Decoder, Encoder};
use crate::model::observation::Observation;
use crate::model::profile::Profile;

/// Its tag.
pub(super) const OBSERVATIONS: super::Tag = *b"cove";

/// The payload.
pub(super) fn payload(all: &[Observation]) -> Vec<u8> {
    let mut plain = Encoder::default();
    for one in all {
        plain.uint(u64::from(one.class));
        plain.uint(u64::from(one.method));
        plain.uint(one.counted);
        plain.bytes.extend_from_slice(&one.seconds.to_le_bytes());
        plain.bytes.extend_from_slice(&one.until.to_le_bytes());
        plain.uint(u64::from(one.windows));
        plain.string(&one.reason);
    }
    plain.bytes
}

/// One record.
pub(super) fn record(d: &mut Decoder<'_>) -> Decoded<Observation> {
    let seconds = |d: &mut Decoder<'_>, what: &str| Ok::<_, String>(f64::from_le_bytes(d.array(what)?));
    Ok(Observation {
        class: d.u32("class of an observation")?,
        method: d.u32("method of an observation")?,
        counted: d.uint("path ends counted")?,
        seconds: seconds(d, "seconds with probes")?,
        until: seconds(d, "seconds of exact counts")?,
        windows: d.u32("stretches with probes")?,
        reason: d.string("reason")?,
    })
}

/// Records are in order, speak of methods that are there, and their times are times.
pub(super) fn check(profile: &Profile, all: &[Observation]) -> Result<(), Problem> {
    let problem = |what: String| {
        Err(Problem {
            class: None,
            method: None,
            what,
        })
    };
    let mut last = None;
    for one in all {
        let class = profile.classes.get(one.class as usize);
        if class.is_none_or(|class| one.method as usize >= class.map.methods.len()) {
            return problem(format!(
                "observation of method {} of class {}, which is not there",
                one.method, one.class
            ));
        }
        let key = (one.class, one.method);
        if last >= Some(key) {
            return problem("the observations are not in order".to_owned());
        }
        last = Some(key);
        let time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        if !time(one.seconds) || !time(one.until) {
            return problem("an observation has no duration in seconds".to_owned());
        }
    }
    Ok(())
}
