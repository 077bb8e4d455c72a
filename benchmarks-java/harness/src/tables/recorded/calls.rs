//! What a stream of calls holds, found by a walk of its own: the truth that the analyses are held against.

use rustc_hash::FxHashSet;
use trodden_analyses::contexts::{ContextSink, ContextTreeBuilder, Exact, Frame, UNKNOWN_SITE};
use trodden_profile::events::{Event, Word};

/// The sizes in HCCT's table 1, and the whole calling context tree.
pub struct Truth {
    /// All of it.
    pub tree: ContextTreeBuilder<Exact>,
    /// Different methods called: nodes of the call graph.
    pub methods: usize,
    /// Different pairs of caller and callee.
    pub edges: usize,
    /// Different places of calls: caller and bytecode index (or not known, as for class initialisers).
    pub sites: usize,
    /// Nodes of the call tree.
    pub calls: u64,
    /// Most activations at a time.
    pub deepest: usize,
}

/// Pseudo-caller of a thread's first activation.
const NOBODY: u32 = u32::MAX;

impl Truth {
    /// Of a thread's words from its beginning on, which must have call sites and no paths.
    pub fn of(words: &[u64]) -> Result<Truth, String> {
        let (mut methods, mut edges, mut sites) = (
            FxHashSet::<u32>::default(),
            FxHashSet::<u64>::default(),
            FxHashSet::<u64>::default(),
        );
        let mut truth = Truth {
            tree: ContextTreeBuilder::new(Exact),
            methods: 0,
            edges: 0,
            sites: 0,
            calls: 0,
            deepest: 0,
        };
        let mut stack: Vec<u32> = Vec::new();
        let mut below = 0;
        for (at, &word) in words.iter().enumerate() {
            let wrong = |what: &str| format!("word {at}, {word:#x}: {what}");
            match Word(word).decode().map_err(|e| wrong(&e.to_string()))? {
                Event::Enter { method, call_site } => {
                    let site = call_site.unwrap_or(UNKNOWN_SITE);
                    let caller = stack.last().copied().unwrap_or(NOBODY);
                    methods.insert(method);
                    edges.insert(u64::from(caller) << 32 | u64::from(method));
                    sites.insert(u64::from(caller) << 16 | u64::from(site));
                    stack.push(method);
                    truth.deepest = truth.deepest.max(stack.len());
                    truth.calls += 1;
                    truth.tree.enter(Frame::new(method, site), 1);
                }
                Event::Exit { method } => {
                    if stack.pop() != Some(method) {
                        return Err(wrong("ends what is not on the stack"));
                    }
                    truth.tree.exit();
                }
                Event::Unwound { depth } => {
                    if stack.is_empty() {
                        below = depth as usize;
                        continue;
                    }
                    let remain = (depth as usize).checked_sub(below).filter(|&n| n <= stack.len());
                    stack.truncate(remain.ok_or_else(|| wrong("leaves more than there was"))?);
                    truth.tree.unwind(stack.len() as u32);
                }
                event => return Err(wrong(&format!("{event:?} in a trace for contexts alone"))),
            }
        }
        (truth.methods, truth.edges, truth.sites) = (methods.len(), edges.len(), sites.len());
        Ok(truth)
    }

    /// Contexts of the tree.
    pub fn contexts(&self) -> u64 {
        self.tree.stats().contexts
    }
}
