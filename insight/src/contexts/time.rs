//! CPU samples in the tree of contexts: which contexts take time, beside how often they are called.
//!
//! A sampled stack is followed along the tree from its outermost frame. Frames of methods without probes (of the JDK, say) are
//! in no context: their time is that of the context that called them. Where a stack goes on to a context that the tree does
//! not have, because it is cold or fell into no burst, its time is in no context of its own, only in those above it.

use std::collections::HashMap;

use trodden_profile::{ContextNode, CpuFrameKind, CpuTime, Profile};

/// CPU time of each context.
#[derive(Debug)]
pub struct ContextTimes {
    /// Per context: in its method, and in what that calls that has no context.
    pub own: Vec<CpuTime>,
    /// Per context: with all that it calls.
    pub whole: Vec<CpuTime>,
    /// All samples.
    pub total: CpuTime,
}

/// How far a stack has been followed.
#[derive(Clone, Copy)]
enum Way {
    /// No frame with probes yet.
    Outside,
    /// In a context, whose method is at this bytecode index.
    At(u32, Option<u16>),
    /// Below a context, if any, in one that the tree does not have.
    Lost(Option<u32>),
}

type Methods<'p> = HashMap<(&'p str, &'p str, &'p str), Vec<(u32, u32)>>;
type Children = HashMap<(Option<u32>, u32, u32), Vec<u32>>;

impl ContextTimes {
    /// The samples of a profile in its contexts, each with its caller in `parents`. `None`: there are no samples.
    pub fn of(profile: &Profile, nodes: &[ContextNode], parents: &[Option<u32>]) -> Option<Self> {
        let cpu = profile.cpu.as_ref().filter(|cpu| !cpu.total().is_none())?;
        let mut methods: Methods = HashMap::new();
        for (class, of) in (0..).zip(&profile.classes) {
            for (method, map) in (0..).zip(&of.map.methods) {
                let key = (of.map.name.as_str(), map.name.as_str(), map.descriptor.as_str());
                methods.entry(key).or_default().push((class, method));
            }
        }
        let mut children: Children = HashMap::new();
        for (at, (node, parent)) in (0..).zip(nodes.iter().zip(parents)) {
            children
                .entry((*parent, node.class, node.method))
                .or_default()
                .push(at);
        }
        let mut times = ContextTimes {
            own: vec![CpuTime::default(); nodes.len()],
            whole: vec![CpuTime::default(); nodes.len()],
            total: cpu.total(),
        };
        // The way to each frame of the stack at hand.
        let mut ways: Vec<Way> = Vec::new();
        for stack in cpu.tree.nodes() {
            ways.truncate(stack.depth as usize - 1);
            let frame = &cpu.frames[stack.frame as usize];
            let ids = methods.get(&(
                frame.class.as_str(),
                frame.name.as_str(),
                frame.descriptor.as_str(),
            ));
            let way = match (ways.last().copied().unwrap_or(Way::Outside), ids) {
                // A stack that was cut begins with such a frame: where it came from is not known.
                (Way::Outside, _) if frame.kind == CpuFrameKind::Other => Way::Lost(None),
                (way, None) | (way @ Way::Lost(_), _) => way,
                (Way::Outside, Some(ids)) => {
                    let root = only(&children, nodes, None, ids, None);
                    root.map_or(Way::Lost(None), |at| Way::At(at, stack.bci))
                }
                (Way::At(caller, site), Some(ids)) => {
                    let callee = only(&children, nodes, Some(caller), ids, site);
                    callee.map_or(Way::Lost(Some(caller)), |at| Way::At(at, stack.bci))
                }
            };
            ways.push(way);
            match way {
                Way::At(at, _) => {
                    let at = at as usize;
                    times.own[at] = times.own[at].plus(stack.own);
                    times.whole[at] = times.whole[at].plus(stack.own);
                }
                Way::Lost(Some(above)) => {
                    let above = above as usize;
                    times.whole[above] = times.whole[above].plus(stack.own);
                }
                Way::Lost(None) | Way::Outside => {}
            }
        }
        // Callers come before those that they call.
        for at in (0..nodes.len()).rev() {
            if let Some(parent) = parents[at] {
                let parent = parent as usize;
                times.whole[parent] = times.whole[parent].plus(times.whole[at]);
            }
        }
        Some(times)
    }

    /// The time of all contexts.
    pub fn placed(&self) -> CpuTime {
        self.own
            .iter()
            .fold(CpuTime::default(), |sum, &own| sum.plus(own))
    }
}

/// The context of one of these methods, called from there: none if there is none, or if the stack does not tell which of
/// several (of a caller that came to the call on different paths).
fn only(
    children: &Children,
    nodes: &[ContextNode],
    caller: Option<u32>,
    ids: &[(u32, u32)],
    site: Option<u16>,
) -> Option<u32> {
    let all = ids
        .iter()
        .filter_map(|&(class, method)| children.get(&(caller, class, method)));
    let mut found = all.flatten().copied().filter(|&at| {
        // A tree may be without call sites; and a thread's first method has none.
        let own = nodes[at as usize].site;
        own.is_none() || own == site
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
