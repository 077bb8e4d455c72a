//! What tells a method's paths apart: a path that begins as one above it shows only from where it leaves that one, and the
//! decisions that the other did not take stand out.

use trodden_insight::decisions::Decisions;
use trodden_insight::view::{PathView, Stop};
use trodden_numbering::StartKind;
use trodden_profile::{EndKind, MethodMap};

/// A path beside the most similar of those above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Position of that one; none if none above starts at the same place.
    pub like: Option<usize>,
    /// Stops at the beginning that both have, and that need not be shown twice.
    pub folded: usize,
    /// Per stop: is it none of the other's?
    pub differs: Vec<bool>,
    /// True if it ends elsewhere.
    pub ends_elsewhere: bool,
}

/// The stops of a list of paths, and what tells each from those above.
pub(crate) struct Routes {
    pub stops: Vec<Vec<Stop>>,
    pub told: Vec<Told>,
}

/// A path in the terms of a reader: where it begins and ends, and what lies between.
struct Route<'a> {
    start: (StartKind, u32),
    end: (EndKind, u32),
    stops: &'a [Stop],
}

impl Routes {
    /// Routes of the paths in the order in which they are shown.
    pub fn of(paths: &[PathView], map: &MethodMap, decisions: &Decisions) -> Self {
        let stops: Vec<Vec<Stop>> = paths.iter().map(|path| path.folded(map, decisions)).collect();
        let routes: Vec<Route> = paths
            .iter()
            .zip(&stops)
            .map(|(path, stops)| Route {
                start: (path.description.start_kind, path.description.start.bci),
                end: (path.description.end_kind, path.description.end.bci),
                stops,
            })
            .collect();
        let told = (0..routes.len())
            .map(|at| tell(&routes[at], &routes[..at]))
            .collect();
        Routes { stops, told }
    }
}

fn tell(route: &Route, above: &[Route]) -> Told {
    /// Fewer than this are shown again: a fold is no shorter.
    const WORTH_FOLDING: usize = 2;
    let common = |other: &Route| {
        let pairs = route.stops.iter().zip(other.stops);
        pairs.take_while(|(a, b)| a == b).count()
    };
    let alike = above
        .iter()
        .enumerate()
        .filter(|(_, other)| other.start == route.start);
    // Of several that have as much in common the first, which is the hottest.
    let most = alike
        .map(|(at, other)| (common(other), at))
        .max_by_key(|&(common, at)| (common, std::cmp::Reverse(at)));
    let Some((common, at)) = most else {
        return Told {
            differs: vec![false; route.stops.len()],
            ..Told::default()
        };
    };
    let other = &above[at];
    let differs = route.stops.iter().map(|stop| !other.stops.contains(stop));
    Told {
        like: Some(at),
        folded: if common >= WORTH_FOLDING { common } else { 0 },
        differs: differs.collect(),
        ends_elsewhere: route.end != other.end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(line: u32, edge: u32) -> Stop {
        use trodden_numbering::{BlockId, EdgeRef};
        Stop {
            from: line,
            to: line,
            bytecode: false,
            edge: Some(EdgeRef {
                from: BlockId::new(line as usize),
                index: edge,
            }),
        }
    }

    fn route(stops: &[Stop], start: u32, end: u32) -> Route<'_> {
        Route {
            start: (StartKind::Entry, start),
            end: (EndKind::Return, end),
            stops,
        }
    }

    #[test]
    fn a_path_is_held_against_the_most_similar_above() {
        let first = [stop(1, 0), stop(2, 0), stop(3, 0), stop(4, 0)];
        let second = [stop(1, 0), stop(2, 1), stop(3, 0)];
        let third = [stop(1, 0), stop(2, 1), stop(3, 1), stop(4, 0)];
        let elsewhere = [stop(1, 0)];
        let routes = [
            route(&first, 0, 9),
            route(&second, 0, 9),
            route(&third, 0, 8),
            route(&elsewhere, 5, 9),
        ];
        let told = |at: usize| tell(&routes[at], &routes[..at]);
        assert_eq!(told(0).like, None);
        // One stop in common is not folded, but what differs is told.
        assert_eq!(
            told(1),
            Told {
                like: Some(0),
                folded: 0,
                differs: vec![false, true, false],
                ends_elsewhere: false
            }
        );
        // Two in common with the second, one with the first.
        assert_eq!(
            told(2),
            Told {
                like: Some(1),
                folded: 2,
                differs: vec![false, false, true, true],
                ends_elsewhere: true
            }
        );
        // None above starts there.
        assert_eq!((told(3).like, told(3).folded), (None, 0));
    }
}
