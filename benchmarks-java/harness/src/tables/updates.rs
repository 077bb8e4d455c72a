//! Register updates of a run: with the numbers that it was profiled under, and with those that its own
//! frequencies give (PEP section 3.4).
//!
//! The profiles should be exact, of `probe=counters` without `use-profile`: then the table compares the
//! heuristics' numbers with guided ones. *Paths* is the number of counted path ends; *updates* is how often
//! the run followed an edge that changes the path register.

use trodden_numbering::{EdgeWeights, FlowGraph, NumberingOptions, PathDag, Plan, Update};
use trodden_profile::{EdgeProfile, MethodCounts, MethodMap, Profile};

#[derive(Default)]
struct Sums {
    paths: u64,
    /// As profiled, guided.
    updates: [u64; 2],
}

/// Prints the table, a line for each `NAME=FILE`.
pub fn run(profiles: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    println!("| | paths | updates | per path | guided | per path | guided / unguided |");
    println!("|{}", " --- |".repeat(7));
    for argument in profiles {
        let (name, file) = argument.split_once('=').ok_or("arguments are NAME=FILE")?;
        let profile = Profile::load(file)?;
        let mut sums = Sums::default();
        for class in &profile.classes {
            for (map, counts) in class.map.methods.iter().zip(&class.counts) {
                if counts.total() > 0 {
                    add(&mut sums, map, counts)?;
                }
            }
        }
        let [updates, guided] = sums.updates;
        let per_path = |updates: u64| updates as f64 / sums.paths as f64;
        println!(
            "| {name} | {} | {updates} | {:.2} | {guided} | {:.2} | {:.2} |",
            sums.paths,
            per_path(updates),
            per_path(guided),
            guided as f64 / updates as f64,
        );
    }
    Ok(())
}

fn add(sums: &mut Sums, map: &MethodMap, counts: &MethodCounts) -> Result<(), Box<dyn std::error::Error>> {
    sums.paths += counts.total();
    let profile = EdgeProfile::of(map, counts);
    let weights = EdgeWeights::from_parts(profile.frequencies());
    let guided = PathDag::build(&map.graph, &weights, &NumberingOptions::default())?;
    for (kind, dag) in [&map.dag, &guided].into_iter().enumerate() {
        let plan = Plan::new(&map.graph, dag, false);
        for (edge, _) in map.graph.edges() {
            if !matches!(plan.op(edge).update, Update::Keep) {
                sums.updates[kind] += profile.edges[edge.from.index()][edge.index as usize];
            }
        }
    }
    Ok(())
}
