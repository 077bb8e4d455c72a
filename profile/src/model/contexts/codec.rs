//! The sections of calling contexts: writing and reading.

use super::{BurstGroups, ContextNode, ContextTree, Contexts};
use crate::model::burst_groups::ByGroup;
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{Tag, WriteError};
use crate::model::fault::Fault;
use crate::model::profile::Profile;
use crate::model::section::{About, Records, SectionReader, put_packed};
use crate::options::ContextWeight;

/// Tag of the section about all contexts.
pub(super) const ABOUT: Tag = *b"ctxt";
/// Tag of the sections with nodes of the tree.
pub(super) const NODES: Tag = *b"ctxn";
/// Tag of the sections with paths that led to calls.
pub(super) const PREFIXES: Tag = *b"ctxp";

/// Tag of the sections with calls per group of bursts: the first record is about all contexts.
pub(super) const GROUPS: Tag = *b"ctxg";

/// Writes the contexts.
pub(super) fn write(contexts: &Contexts, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut about = Encoder::default();
    about.string(&contexts.algorithm);
    about.option(contexts.thresholds, |out, (phi, epsilon)| {
        out.f64(phi);
        out.f64(epsilon);
    });
    about.option(contexts.bursts.as_deref(), Encoder::string);
    for number in [
        contexts.calls,
        contexts.absent,
        contexts.peak_nodes,
        contexts.peak_bytes,
        contexts.dropped,
        contexts.orphans,
    ] {
        about.uint(number);
    }
    about.len(contexts.tree.nodes().len());
    if contexts.weight != ContextWeight::Calls {
        about.string(contexts.weight.name());
    }
    put_packed(out, ABOUT, &about.bytes)?;

    let mut nodes = Records::new(NODES);
    let mut before = 0;
    for node in contexts.tree.nodes() {
        let plain = &mut nodes.plain;
        plain.uint(u64::from(before + 1 - node.depth));
        before = node.depth;
        plain.uint(u64::from(node.class));
        plain.uint(u64::from(node.method));
        plain.uint(node.site.map_or(0, |bci| u64::from(bci) + 1));
        plain.option(node.calls, |out, (least, most)| {
            out.uint(least);
            out.uint(most - least);
        });
        nodes.end()?;
    }
    nodes.append_to(out)?;

    let mut prefixes = Records::new(PREFIXES);
    let mut before = 0;
    for (at, node) in (1..).zip(contexts.tree.nodes()) {
        if let Some(prefix) = node.prefix {
            prefixes.plain.uint(at - before);
            prefixes.plain.uint(prefix.into());
            before = at;
        }
        prefixes.end()?;
    }
    prefixes.append_to(out)?;

    let mut groups = Records::new(GROUPS);
    if let Some(BurstGroups { all, contexts }) = &contexts.groups {
        let mut before = 0;
        let own = contexts.iter().map(|(at, own)| (u64::from(*at) + 1, own));
        for (at, by_group) in std::iter::once((0, all)).chain(own) {
            groups.plain.uint(at - before);
            before = at;
            by_group.0.iter().for_each(|&calls| groups.plain.uint(calls));
            groups.end()?;
        }
    }
    groups.append_to(out)
}

/// What was read of the contexts so far.
#[derive(Default)]
pub(super) struct Reading {
    about: About<Contexts>,
    nodes: Vec<ContextNode>,
    /// Number of the node, from 1, and its prefix.
    prefixes: Vec<(u64, u32)>,
    groups: Option<BurstGroups>,
}

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        match tag {
            ABOUT => self.about(d),
            NODES => d.records(|d| self.node(d)),
            PREFIXES => d.records(|d| self.prefix(d)),
            _ => d.records(|d| self.group(d)),
        }
    }

    fn finish(mut self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        let found = self.nodes.len() as u64;
        for (at, prefix) in self.prefixes {
            let node = usize::try_from(at - 1).ok().and_then(|at| self.nodes.get_mut(at));
            node.ok_or(Fault::NoItem("a prefix", "context", at))?.prefix = Some(prefix);
        }
        let Some(contexts) = self.about.complete("contexts", found)? else {
            return match self.groups {
                None => Ok(()),
                Some(_) => Err(Fault::Untold("groups of bursts", 1).into()),
            };
        };
        profile.contexts = Some(Contexts {
            tree: ContextTree::from_preorder(self.nodes)?,
            groups: self.groups,
            ..contexts
        });
        Ok(())
    }
}

impl Reading {
    fn about(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let mut contexts = Contexts {
            weight: ContextWeight::Calls,
            algorithm: d.string("algorithm")?,
            thresholds: d.option("thresholds", |d| Ok((d.f64("phi")?, d.f64("epsilon")?)))?,
            bursts: d.option("bursts", |d| d.string("bursts"))?,
            calls: d.uint("calls")?,
            absent: d.uint("calls of absent contexts")?,
            peak_nodes: d.uint("most contexts")?,
            peak_bytes: d.uint("bytes of contexts")?,
            dropped: d.uint("dropped calls")?,
            orphans: d.uint("orphans")?,
            tree: ContextTree::default(),
            groups: None,
        };
        let nodes = d.uint("number of contexts")?;
        if !d.is_at_end() {
            contexts.weight = d.string("weight")?.parse().map_err(Fault::Weight)?;
        }
        self.about.set("contexts", contexts, nodes)
    }

    fn node(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let before = self.nodes.last().map_or(0, |node| node.depth);
        let rise = d.u32("rise of a context")?;
        let depth = before.checked_add(1).and_then(|depth| depth.checked_sub(rise));
        let node = ContextNode {
            depth: depth
                .filter(|&depth| depth > 0)
                .ok_or(Fault::AboveRoot("context"))?,
            class: d.u32("class of a context")?,
            method: d.u32("method of a context")?,
            site: match d.uint("call site of a context")? {
                0 => None,
                site => {
                    Some(u16::try_from(site - 1).map_err(|_| Fault::TooWide("call site of a context", 16))?)
                }
            },
            prefix: None,
            calls: d.option("calls of a context", |d| {
                let least = d.uint("calls of a context")?;
                let more = d.uint("error of a context")?;
                let most = least
                    .checked_add(more)
                    .ok_or(Fault::TooWide("calls of a context", 64))?;
                Ok((least, most))
            })?,
        };
        self.nodes.push(node);
        Ok(())
    }

    fn prefix(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let before = self.prefixes.last().map_or(0, |&(at, _)| at);
        let next = d.uint("distance to a context with a prefix")?;
        let at = before.checked_add(next).filter(|_| next > 0);
        let at = at.ok_or(Fault::NotInOrder("contexts with a prefix"))?;
        self.prefixes.push((at, d.u32("prefix of a context")?));
        Ok(())
    }

    fn group(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let next = d.uint("distance to a context with groups of bursts")?;
        let mut by_group = ByGroup::default();
        for calls in &mut by_group.0 {
            *calls = d.uint("calls of a group of bursts")?;
        }
        let Some(groups) = &mut self.groups else {
            self.groups = Some(BurstGroups {
                all: by_group,
                contexts: Vec::new(),
            });
            return Ok(Fault::order("groups of bursts", next == 0)?);
        };
        let before = groups.contexts.last().map_or(0, |&(at, _)| u64::from(at) + 1);
        let at = before.checked_add(next).filter(|_| next > 0);
        let at = at.ok_or(Fault::NotInOrder("contexts with groups of bursts"))?;
        let at = u32::try_from(at - 1).map_err(|_| Fault::NoItem("groups of bursts", "context", at))?;
        groups.contexts.push((at, by_group));
        Ok(())
    }
}
