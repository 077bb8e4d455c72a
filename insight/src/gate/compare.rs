//! What grew from one gate file to another.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use super::verdict::{OTHERS, Verdict, Why, only_others, verdict};
use super::{GateFile, GateMethod, GatePath, GateTest, Outside};

/// Options of a comparison.
#[derive(Clone, Debug, Default)]
pub struct GateOptions {
    /// A test may do so much more work (0.005 is 0.5 %); `None`: nothing fails.
    pub fail_on: Option<f64>,
    /// Folders with sources, for formats that name files.
    pub sources: Vec<PathBuf>,
}

/// Two gate files, test by test.
#[derive(Debug)]
pub struct GateComparison {
    /// By name.
    pub tests: Vec<TestChange>,
    /// How much more work a test may do.
    pub fail_on: Option<f64>,
    /// Source folders, as in [`GateOptions`].
    pub sources: Vec<PathBuf>,
}

/// One test in both files.
#[derive(Clone, Debug)]
pub struct TestChange {
    /// Its name.
    pub name: String,
    /// Instructions before and after; the least of the runs.
    pub instructions: [Option<u64>; 2],
    /// Allocated bytes before and after, if they are known.
    pub allocated: [Option<u64>; 2],
    /// How long it took with the probes in it, before and after, if that is known: least and most of the runs,
    /// nanoseconds. Nothing is judged by it.
    pub time: [Option<[u64; 2]>; 2],
    /// Executed instructions that make an object or arrays, before and after, if they are known.
    pub allocations: [Option<u64>; 2],
    /// Change as a share of the instructions before; `None` if the test is in one file only, or did nothing before.
    pub change: Option<f64>,
    /// Instructions of its own threads before and after, as [`GateTest::own`] has them; the least of the runs.
    pub own: [Option<u64>; 2],
    /// Is all that differs what threads did that may have done another test's work: from run to run, or, if it is
    /// [unsure](Verdict::Unsure), from before to now?
    pub by_others: bool,
    /// It is unstable, but has grown so far beyond what it differs by that it is broken.
    pub far: bool,
    /// The outcome.
    pub verdict: Verdict,
    /// The method and path whose instructions grew most; if the test does less work: shrank most.
    pub moved: Option<Grew>,
    /// Calls of code that is not counted, before and after, if they are known.
    pub outside: [Option<Outside>; 2],
    /// The method whose calls of such code grew most, if there are more of them.
    pub calls_more: Option<String>,
    /// How much more work it may do: what it says itself, else what all may.
    pub limit: Option<f64>,
    /// True if the limit is the test's own.
    pub own_limit: bool,
    /// Why its numbers are not the same in each run.
    pub unstable: Option<String>,
}

/// The method and path that grew.
#[derive(Clone, Debug)]
pub struct Grew {
    /// Class with dots.
    pub class: String,
    /// Name with parameters.
    pub method: String,
    /// The source file below its source folder.
    pub file: Option<String>,
    /// A line of it: where the path begins, or the method.
    pub line: Option<u32>,
    /// Instructions of the method. `None`: it was not listed, so it did less than those that were.
    pub instructions: [Option<u64>; 2],
    /// Its calls.
    pub calls: [Option<u64>; 2],
    /// The path in words, if paths are known.
    pub path: Option<String>,
    /// How often the path ran.
    pub count: [Option<u64>; 2],
    /// Its instructions, in the build in which it is known.
    pub length: u64,
}

impl GateComparison {
    /// Compares two files.
    pub fn new(before: &GateFile, after: &GateFile, options: &GateOptions) -> Self {
        let mut pairs: BTreeMap<&str, [Option<&GateTest>; 2]> = BTreeMap::new();
        for (which, file) in [before, after].into_iter().enumerate() {
            for test in &file.tests {
                pairs.entry(&test.name).or_default()[which] = Some(test);
            }
        }
        let tests = pairs
            .into_iter()
            .map(|(name, pair)| change(name, pair, options.fail_on));
        GateComparison {
            tests: tests.collect(),
            fail_on: options.fail_on,
            sources: options.sources.clone(),
        }
    }

    /// True if a test does more work than allowed.
    pub fn failed(&self) -> bool {
        self.tests.iter().any(|test| test.verdict == Verdict::Broken)
    }

    /// How many tests there are of a kind.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.tests.iter().filter(|test| test.verdict == verdict).count()
    }

    /// Those that are worth a word, the largest growth first.
    pub fn worth_a_word(&self) -> Vec<&TestChange> {
        let mut tests: Vec<&TestChange> = self.tests.iter().filter(|t| t.verdict != Verdict::Same).collect();
        let rank = |test: &TestChange| {
            let verdict = test.verdict;
            (
                verdict != Verdict::Broken,
                verdict == Verdict::Unsure,
                test.change.is_none(),
            )
        };
        tests.sort_by(|a, b| {
            let change = |test: &TestChange| test.change.unwrap_or(0.0);
            rank(a)
                .cmp(&rank(b))
                .then(change(b).total_cmp(&change(a)))
                .then(a.name.cmp(&b.name))
        });
        tests
    }

    /// Methods that grew most in tests that do more work: method, tests, and how many of these are broken. Those that
    /// break tests first, then those of most tests.
    pub fn grown_methods(&self) -> Vec<(String, usize, usize)> {
        let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let known = [Verdict::Broken, Verdict::Changed];
        for test in self.tests.iter().filter(|test| known.contains(&test.verdict)) {
            if let Some(grew) = test.grew() {
                let (tests, broken) = found.entry(grew.title()).or_default();
                *tests += 1;
                *broken += usize::from(test.verdict == Verdict::Broken);
            }
        }
        let mut methods: Vec<_> = found.into_iter().map(|(title, (n, b))| (title, n, b)).collect();
        methods.sort_by(|a, b| (b.2, b.1).cmp(&(a.2, a.1)).then(a.0.cmp(&b.0)));
        methods
    }
}

impl TestChange {
    /// Calls of code that is not counted, before and after, if there are over a tenth of a per cent more of them.
    pub fn calls_out(&self) -> Option<[u64; 2]> {
        let [Some(b), Some(a)] = self.outside.map(|outside| outside.map(|outside| outside.calls)) else {
            return None;
        };
        (a as f64 > b as f64 * 1.001 && self.unstable.is_none()).then_some([b, a])
    }

    /// Allocations of counted code before and after, if there are over a tenth of a per cent more of them.
    pub fn allocates_more(&self) -> Option<[u64; 2]> {
        let [Some(b), Some(a)] = self.allocations else {
            return None;
        };
        (a as f64 > b as f64 * 1.001 && self.unstable.is_none()).then_some([b, a])
    }

    /// The method and path that grew; nothing if the test does less work.
    pub fn grew(&self) -> Option<&Grew> {
        self.moved
            .as_ref()
            .filter(|_| self.change.is_none_or(|change| change > 0.0))
    }
}

impl Grew {
    /// `shop.Cache.lookup(String)`.
    pub fn title(&self) -> String {
        format!("{}.{}", self.class, self.method)
    }
}

fn change(name: &str, pair: [Option<&GateTest>; 2], fail_on: Option<f64>) -> TestChange {
    let of = |get: fn(&GateTest) -> u64| pair.map(|test| test.map(get));
    let instructions = of(|test| test.instructions);
    let share = match instructions {
        [Some(b), Some(a)] if b > 0 => Some((a as f64 - b as f64) / b as f64),
        [Some(0), Some(0)] => Some(0.0),
        _ => None,
    };
    // What the code says that is being looked at.
    let own = pair[1].and_then(|test| test.limit);
    let limit = own.or(fail_on);
    let (verdict, why) = match pair {
        [Some(b), Some(a)] => verdict(b, a, fail_on),
        [None, _] => (Verdict::New, Why::Plain),
        [_, None] => (Verdict::Gone, Why::Plain),
    };
    let moved = match pair {
        [Some(b), Some(a)] if verdict != Verdict::Same => moved(b, a),
        _ => None,
    };
    let reason = |which: usize| pair[which].and_then(|test| test.unstable.clone());
    TestChange {
        name: name.to_owned(),
        instructions,
        allocated: pair.map(|test| test.and_then(|test| test.allocated)),
        time: pair.map(|test| test.and_then(|test| test.time)),
        allocations: pair.map(|test| test.and_then(|test| test.allocations)),
        outside: pair.map(|test| test.and_then(|test| test.outside)),
        calls_more: match pair {
            [Some(b), Some(a)] => calls_more(b, a),
            _ => None,
        },
        limit,
        own_limit: own.is_some(),
        change: share,
        own: pair.map(|test| test.and_then(|test| test.own).map(|[least, _]| least)),
        by_others: why == Why::Others || only_others(pair),
        far: why == Why::Far,
        verdict,
        moved,
        unstable: (reason(1).or_else(|| reason(0)))
            .or_else(|| (why == Why::Others).then(|| format!("differs only in {OTHERS}"))),
    }
}

/// The method that calls more of what is not counted than before, if the test does.
fn calls_more(before: &GateTest, after: &GateTest) -> Option<String> {
    if after.outside?.calls <= before.outside?.calls {
        return None;
    }
    let more = |[b, a]: [Option<&GateMethod>; 2]| {
        let by = a?.outside.checked_sub(b.map_or(0, |b| b.outside))?;
        (by > 0).then(|| (by, a.map(GateMethod::title)))
    };
    let all = pairs(&before.methods, &after.methods)
        .into_iter()
        .filter_map(more);
    // Of methods alike the first by name.
    all.reduce(|best, next| if next.0 > best.0 { next } else { best })?
        .1
}

fn moved(before: &GateTest, after: &GateTest) -> Option<Grew> {
    let sign = if after.instructions >= before.instructions {
        1.0
    } else {
        -1.0
    };
    let pairs = pairs(&before.methods, &after.methods);
    let difference = |[b, a]: [u64; 2]| (a as f64 - b as f64) * sign;
    // What is not listed did at most so much.
    let unlisted = [before.least_listed(), after.least_listed()];
    let grown = pairs.into_iter().map(|pair| {
        let [b, a] = pair.map(|method| method.map(|m| m.instructions));
        let by = difference([b.unwrap_or(unlisted[0]), a.unwrap_or(unlisted[1])]);
        (by, pair)
    });
    // Of methods alike the first by name: the order of pairs.
    let (by, pair) = grown.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    if by <= 0.0 {
        return None;
    }
    let method = pair[1].or(pair[0])?;
    let paths = pair.map(|method| method.map_or(&[][..], |method| &method.paths[..]));
    let path = paired_paths(paths[0], paths[1])
        .into_iter()
        .map(|both| {
            let work = both.map(|p| p.map_or(0, |p| p.count.saturating_mul(p.length)));
            (difference(work), both)
        })
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    let both = path
        .filter(|(by, _)| *by > 0.0)
        .map_or([None; 2], |(_, both)| both);
    let path = both[1].or(both[0]);
    Some(Grew {
        class: method.class.clone(),
        method: method.name.clone(),
        file: method.file.clone(),
        line: path.and_then(|path| first_line(&path.text)).or(method.line),
        instructions: pair.map(|method| method.map(|m| m.instructions)),
        calls: pair.map(|method| method.map(|m| m.calls)),
        path: path.map(|path| path.text.clone()),
        count: both.map(|path| path.map(|path| path.count)),
        length: path.map_or(0, |path| path.length),
    })
}

/// Words of a path begin with its first line.
fn first_line(words: &str) -> Option<u32> {
    let digits: String = words.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The common part of two methods that are one: a name, a hash of the code, or both.
type MethodKey = (String, u64);

/// Methods by name; then bodies of lambdas, which each build numbers anew; then renamed ones, by their code.
fn pairs<'m>(before: &'m [GateMethod], after: &'m [GateMethod]) -> Vec<[Option<&'m GateMethod>; 2]> {
    let mut found = Vec::new();
    let mut free = [before, after].map(|side| side.iter().collect::<Vec<_>>());
    let keys: [fn(&GateMethod) -> Option<MethodKey>; 3] = [
        |method| Some((method.title(), 0)),
        |method| Some((lambda(&method.class, &method.name)?, method.code)),
        |method| (method.code != 0).then(|| (String::new(), method.code)),
    ];
    for key in keys {
        let mut groups: BTreeMap<MethodKey, [Vec<&GateMethod>; 2]> = BTreeMap::new();
        for (which, side) in free.iter().enumerate() {
            for method in side {
                if let Some(key) = key(method) {
                    groups.entry(key).or_default()[which].push(method);
                }
            }
        }
        let mut taken: [HashSet<*const GateMethod>; 2] = Default::default();
        for [b, a] in groups.into_values().filter(|[b, a]| b.len() == a.len()) {
            for (b, a) in b.into_iter().zip(a) {
                taken[0].insert(b);
                taken[1].insert(a);
                found.push([Some(b), Some(a)]);
            }
        }
        for (side, taken) in free.iter_mut().zip(&taken) {
            side.retain(|method| !taken.contains(&std::ptr::from_ref(*method)));
        }
    }
    let [gone, new] = free;
    found.extend(new.into_iter().map(|method| [None, Some(method)]));
    found.extend(gone.into_iter().map(|method| [Some(method), None]));
    found
}

/// A lambda's body without its number: `shop.Server.lambda$main(int)`.
fn lambda(class: &str, name: &str) -> Option<String> {
    let (method, parameters) = name.strip_prefix("lambda$")?.split_once('(')?;
    let (owner, number) = method.rsplit_once('$')?;
    number.parse::<u32>().ok()?;
    Some(format!("{class}.{owner}({parameters}"))
}

/// Paths by their key; then by their words without line numbers, as code on them may have changed.
fn paired_paths<'p>(before: &'p [GatePath], after: &'p [GatePath]) -> Vec<[Option<&'p GatePath>; 2]> {
    let mut free: Vec<&GatePath> = before.iter().collect();
    let mut rest = Vec::new();
    let mut found = Vec::new();
    for path in after {
        match free.iter().position(|other| other.key == path.key) {
            Some(at) => found.push([Some(free.swap_remove(at)), Some(path)]),
            None => rest.push(path),
        }
    }
    for path in rest {
        let same = |other: &&GatePath| without_lines(&other.text) == without_lines(&path.text);
        match free.iter().position(same) {
            Some(at) => found.push([Some(free.swap_remove(at)), Some(path)]),
            None => found.push([None, Some(path)]),
        }
    }
    found.extend(free.into_iter().map(|path| [Some(path), None]));
    found
}

/// The decisions alone. Each stop of a path is `7`, `8–9 hit != null → no`, or `bytecode 12 …`.
fn without_lines(text: &str) -> Vec<&str> {
    let decision = |stop: &'_ str| {
        let stop = stop.strip_prefix("bytecode ").unwrap_or(stop);
        stop.find(|c: char| !c.is_ascii_digit() && c != '–')
            .unwrap_or(stop.len())
    };
    text.split(" · ")
        .map(|stop| {
            let start = stop.strip_prefix("bytecode ").unwrap_or(stop);
            &start[decision(stop)..]
        })
        .filter(|words| !words.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_what_is_left_without_lines() {
        let words = without_lines("17 · 22–23 hit != null → no · bytecode 5 taken · 30");
        assert_eq!(words, [" hit != null → no", " taken"]);
        assert_eq!(first_line("22–23 hit"), Some(22));
    }

    #[test]
    fn a_lambda_has_its_method_and_parameters() {
        assert_eq!(
            lambda("a.B", "lambda$main$12(int)").as_deref(),
            Some("a.B.main(int)")
        );
        assert_eq!(lambda("a.B", "main(int)"), None);
    }
}
