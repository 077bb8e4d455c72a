//! Routes of paths: lines, and decisions with the outcome that was followed, in the source's terms where these are known.

use std::fmt::Write;

use trodden_profile::MethodMap;

use crate::decisions::Decisions;
use crate::view::{PathView, Stop};

/// `7 → 8–9 not taken → 12`; with decisions in the source's terms `7 · 8–9 hit != null → no · 12`.
pub fn route(path: &PathView, map: &MethodMap, decisions: &Decisions) -> String {
    stops(path, map, decisions).join(between(decisions))
}

/// The stops of a route.
pub fn stops(path: &PathView, map: &MethodMap, decisions: &Decisions) -> Vec<String> {
    let stop = |stop: &Stop| {
        let mut out = String::new();
        if stop.bytecode {
            out += "bytecode ";
        }
        out += &stop.from.to_string();
        if stop.to != stop.from {
            let _ = write!(out, "–{}", stop.to);
        }
        if let Some(edge) = stop.edge {
            let _ = write!(out, " {}", decisions.followed(map, edge));
        }
        out
    };
    let stops: Vec<String> = path.folded(map, decisions).iter().map(stop).collect();
    if stops.is_empty() {
        vec!["runs straight into the loop".to_owned()]
    } else {
        stops
    }
}

/// The way between two stops of a route.
pub fn between(decisions: &Decisions) -> &'static str {
    if decisions.is_empty() { " → " } else { " · " }
}
