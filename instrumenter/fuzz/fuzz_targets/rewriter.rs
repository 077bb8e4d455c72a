//! `prepare` and `emit` never panic, whatever the probe; what is emitted can be read again and counts as
//! instrumented. The first byte of the input chooses settings, the rest is the class.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use trodden_instrumenter::{
    CallWeight, ClassIds, EventProbes, Filter, Guide, InstrumentOptions, Instrumenter, Preparation, ProbeKind, Probes, round_trip,
};
use trodden_profile::{ClassProfile, MethodCounts, Profile, Skipped};

/// A former run that took one path of each method; its number may be one that no path has.
fn guide(options: &InstrumentOptions, bytes: &[u8], number: u64) -> Option<Arc<Guide>> {
    let Ok(Preparation::Ready(prepared)) = Instrumenter::new(options.clone()).prepare(bytes) else {
        return None;
    };
    let counts = prepared.map().methods.iter().map(|_| MethodCounts {
        paths: [(number, 9)].into(),
        ..MethodCounts::default()
    });
    let class = ClassProfile {
        counts: counts.collect(),
        map: prepared.map().clone(),
    };
    Some(Arc::new(Guide::new(&Profile {
        classes: vec![class],
        ..Profile::default()
    })))
}

fuzz_target!(|input: &[u8]| {
    let Some((&settings, bytes)) = input.split_first() else { return };
    let ids = ClassIds::new(u32::from(settings) << 10, u32::from(settings) << 12);
    for kind in ProbeKind::ALL {
        let calls = match settings >> 3 & 3 {
            0 => EventProbes::Calls(CallWeight::Nothing),
            1 => EventProbes::Calls(CallWeight::Time),
            2 => EventProbes::Calls(CallWeight::PathsToCalls),
            _ => EventProbes::CallBursts,
        };
        let probes = match kind {
            ProbeKind::Events if settings & 4 == 4 => Probes::Events(calls),
            kind => kind.into(),
        };
        let mut options = InstrumentOptions::new(probes);
        options.filter = Filter::new(&["*"], &[]).unwrap();
        options.cut_paths = settings & 32 == 32;
        options.open_paths = options.cut_paths;
        if settings & 1 == 1 {
            options.path_limit = 20;
        }
        if settings & 2 == 2 {
            options.guide = guide(&options, bytes, settings.into());
        }
        let instrumenter = Instrumenter::new(options);
        let Ok(Preparation::Ready(prepared)) = instrumenter.prepare(bytes) else { continue };
        let (emitted, codes) = prepared.emit_with_code(ids);
        assert_eq!(codes.len(), prepared.map().methods.len());
        let without_places = codes.iter().filter(|c| c.pc_map.is_empty()).count();
        let without_sites = prepared.skipped().iter().filter(|s| s.reason.starts_with(Skipped::NO_CALL_SITES));
        assert_eq!(without_places, without_sites.count());
        assert!(codes.iter().all(|c| c.pc_map.is_sorted()));
        // A method with a broken debug table stays unchanged, and is still broken.
        if round_trip(bytes).is_ok_and(|same| same == bytes) {
            let again = round_trip(&emitted).expect("what was emitted can be read");
            assert!(again == emitted, "the emitted class changes in a round trip");
        }
    }
});
