//! Callers and callees of a method, from stacks of CPU time.

use std::collections::BTreeMap;

/// Sums by method.
type Sums<'s> = BTreeMap<&'s str, u64>;

/// Callers of the methods whose names contain a text, and what they call, by time with callees.
/// `collapsed`: a line for each stack, `frame;frame COUNT`.
pub fn around(collapsed: &str, method: &str) -> String {
    let (mut callers, mut callees) = (Sums::new(), Sums::new());
    let (mut all, mut with, mut own) = (0, 0, 0);
    for line in collapsed.lines() {
        let Some((stack, count)) = line.rsplit_once(' ') else {
            continue;
        };
        let Ok(count) = count.parse::<u64>() else { continue };
        all += count;
        let mut frames: Vec<&str> = stack.split(';').collect();
        frames.dedup_by(|path, method| is_path_of(path, method));
        // The outermost one: a method that calls itself has its time once.
        let Some(at) = frames.iter().position(|frame| frame.contains(method)) else {
            continue;
        };
        with += count;
        let caller = at.checked_sub(1).map_or("(nothing)", |above| frames[above]);
        *callers.entry(caller).or_default() += count;
        match frames.get(at + 1) {
            Some(callee) => *callees.entry(callee).or_default() += count,
            None => own += count,
        }
    }
    if with == 0 {
        return format!("no sample has a method with '{method}' in its name on its stack\n");
    }
    let share = |part: u64, of: u64| format!("{:>5.1} %", part as f64 * 100.0 / of.max(1) as f64);
    let mut text = format!(
        "{} of the program's CPU time with '{method}' on the stack\n",
        share(with, all).trim()
    );
    let mut list = |title: &str, sums: &Sums| {
        text += &format!("\n{title} (shares are of that time)\n");
        let mut sums: Vec<_> = sums.iter().collect();
        sums.sort_by_key(|&(name, time)| (std::cmp::Reverse(*time), *name));
        for (name, time) in sums {
            text += &format!("{}  {name}\n", share(*time, with));
        }
    };
    list("Called by", &callers);
    list("Calls", &callees);
    text + &format!("\n{} in itself\n", share(own, with))
}

/// True if a frame is the path of the method before it: `a.B.m #3: 12–14`.
fn is_path_of(path: &str, method: &str) -> bool {
    path.strip_prefix(method)
        .is_some_and(|rest| rest.starts_with(" #"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_callers_and_callees() {
        let stacks = "main;a.work;a.slow 60\nmain;a.work 10\nother;a.work;a.work;b.x 20\nmain 10\n";
        let text = around(stacks, "a.work");
        for line in [
            "90.0 % of the program's CPU time with 'a.work' on the stack",
            " 77.8 %  main",
            " 22.2 %  other",
            " 66.7 %  a.slow",
            " 22.2 %  a.work",
            " 11.1 % in itself",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(around(stacks, "none").starts_with("no sample"));
    }

    #[test]
    fn paths_are_no_calls() {
        let stacks =
            "main;a.work;a.work #2: 12 hit → no;b.find;b.find #0: 3–4 60\nmain;a.work;a.work #1: 12–13 40\n";
        let text = around(stacks, "a.work");
        assert!(
            text.contains(" 60.0 %  b.find\n") && text.contains(" 40.0 % in itself"),
            "{text}"
        );
        assert!(!text.contains('#'), "{text}");
    }
}
