//! The sections of k-iteration path forests: writing and reading.

use std::collections::BTreeMap;

use super::forest::Row;
use super::{ForestNode, Forests, KPaths, PathForest};
use crate::model::burst_groups::BURST_GROUPS;
use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::codec::{SECTION_TARGET, Tag, WriteError};
use crate::model::fault::{Fault, ensure};
use crate::model::profile::Profile;
use crate::model::section::{About, Records, SectionReader, put_packed};

/// Tag of the section about all forests.
pub(super) const ABOUT: Tag = *b"kpth";
/// Tag of the sections with trees.
pub(super) const TREES: Tag = *b"kptr";
/// Tag of the sections with the trees of groups of bursts.
pub(super) const GROUPS: Tag = *b"kpgr";

/// Writes the forests.
pub(super) fn write(kpaths: &KPaths, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut trees = Records::new(TREES);
    let records = forests(&kpaths.methods, None, &mut trees)?;
    let mut groups = Records::new(GROUPS);
    for (group, of_group) in kpaths.groups.iter().enumerate() {
        forests(of_group, Some(group), &mut groups)?;
    }
    let mut about = Encoder::default();
    about.uint(u64::from(kpaths.k));
    about.uint(kpaths.slab_nodes);
    about.uint(kpaths.slab_bytes);
    about.option(kpaths.budget, Encoder::uint);
    about.option(kpaths.bursts.as_deref(), Encoder::string);
    about.uint(kpaths.orphans);
    about.uint(kpaths.dropped);
    about.uint(records);
    put_packed(out, ABOUT, &about.bytes)?;
    trees.append_to(out)?;
    groups.append_to(out)
}

/// Writes forests, those of a group with its number. Returns how many records they took.
fn forests(forests: &Forests, group: Option<usize>, out: &mut Records) -> Result<u64, WriteError> {
    let mut records = 0;
    for (&(class, method), forest) in forests {
        let mut missing = forest.missing_by_length();
        let mut rest = forest.nodes();
        loop {
            // A large forest continues in another record, from a root on.
            let now = record_length(rest);
            let plain = &mut out.plain;
            group.iter().for_each(|&group| plain.len(group));
            plain.len(class);
            plain.len(method);
            plain.len(missing.len());
            missing.iter().for_each(|&n| plain.uint(n));
            nodes(plain, &rest[..now], group.is_some());
            records += 1;
            out.end()?;
            rest = &rest[now..];
            missing = &[];
            if rest.is_empty() {
                break;
            }
        }
    }
    Ok(records)
}

/// Nodes up to the first root behind the section's target size, at an estimated four bytes each.
fn record_length(nodes: &[ForestNode]) -> usize {
    let behind = nodes.iter().skip(SECTION_TARGET / 4);
    let root = behind.clone().position(|node| node.length == 1);
    root.map_or(nodes.len(), |at| at + SECTION_TARGET / 4)
}

/// `cuts`: with what was cut.
fn nodes(out: &mut Encoder, nodes: &[ForestNode], cuts: bool) {
    out.len(nodes.len());
    let mut before = 0;
    for node in nodes {
        out.uint(u64::from(before + 1 - node.length));
        out.uint(node.path);
        out.uint(node.count);
        if cuts {
            out.uint(node.cut);
        }
        before = node.length;
    }
}

/// Nodes, and what is missing by length.
type Rows = (Vec<Row>, Vec<u64>);

/// Forests, as far as they were read.
#[derive(Default)]
struct Trees {
    records: u64,
    rows: BTreeMap<(usize, usize), Rows>,
}

/// All sections of forests, as far as they were read.
#[derive(Default)]
pub(super) struct Reading {
    about: About<KPaths>,
    all: Trees,
    groups: [Trees; BURST_GROUPS],
}

impl SectionReader for Reading {
    fn section(&mut self, tag: Tag, d: &mut Decoder<'_>, _: &mut Profile) -> Decoded<()> {
        match tag {
            ABOUT => self.about(d),
            GROUPS => d.records(|d| {
                let group = u64::from(d.u32("group of bursts")?);
                Fault::range("group of bursts", group, 0..=BURST_GROUPS as u64 - 1)?;
                self.groups[group as usize].record(d, true)
            }),
            _ => d.records(|d| self.all.record(d, false)),
        }
    }

    fn finish(self: Box<Self>, profile: &mut Profile) -> Decoded<()> {
        let Some(mut kpaths) = self.about.complete("path forests", self.all.records)? else {
            return Ok(());
        };
        kpaths.methods = self.all.forests()?;
        if self.groups.iter().any(|group| group.records > 0) {
            let groups = self.groups.into_iter().map(Trees::forests);
            kpaths.groups = groups.collect::<Decoded<_>>()?;
            // They know what was cut as well.
            let sums = kpaths.sum_of_groups().map_err(Fault::Forests)?;
            let without_cuts = sums.iter().map(|(&key, forest)| (key, forest.without_cuts()));
            if without_cuts.collect::<Forests>() == kpaths.methods {
                kpaths.methods = sums;
            }
        }
        profile.kpaths = Some(kpaths);
        Ok(())
    }
}

impl Reading {
    fn about(&mut self, d: &mut Decoder<'_>) -> Decoded<()> {
        let kpaths = KPaths {
            k: d.u32("k")?,
            slab_nodes: d.uint("nodes of slab forests")?,
            slab_bytes: d.uint("bytes of slab forests")?,
            budget: d.option("budget", |d| d.uint("budget"))?,
            bursts: d.option("bursts", |d| d.string("bursts"))?,
            orphans: d.uint("orphans")?,
            dropped: d.uint("dropped path ends")?,
            ..KPaths::default()
        };
        self.about
            .set("path forests", kpaths, d.uint("number of forest records")?)
    }
}

impl Trees {
    fn forests(self) -> Decoded<Forests> {
        let mut forests = Forests::new();
        for (key, (nodes, missing)) in self.rows {
            let forest = PathForest::from_rows(nodes);
            let forest = forest.map_err(|problem| Fault::Forest(key.0, key.1, problem))?;
            forests.insert(key, forest.with_missing(missing));
        }
        Ok(forests)
    }

    /// `cuts`: with what was cut.
    fn record(&mut self, d: &mut Decoder<'_>, cuts: bool) -> Decoded<()> {
        let (class, method) = (d.u32("class of a forest")?, d.u32("method of a forest")?);
        let key = (class as usize, method as usize);
        let missing = d.list("missing occurrences", |d, _| d.uint("missing occurrences"))?;
        let mut length = 0u32;
        let nodes = d.list("nodes of a forest", |d, _| {
            let up = d.u32("rise of a node")?;
            length = (length + 1)
                .checked_sub(up)
                .filter(|&length| length > 0)
                .ok_or(Fault::AboveRoot("node"))?;
            let (path, count) = (d.uint("path of a node")?, d.uint("count of a node")?);
            let cut = if cuts { d.uint("cut of a node")? } else { 0 };
            Ok((length, path, count, cut))
        })?;
        self.records += 1;
        let is_behind = self.rows.last_key_value().is_none_or(|(last, _)| *last <= key);
        Fault::order("path forests", is_behind)?;
        let (all, errors) = self.rows.entry(key).or_default();
        let is_first = all.is_empty() || missing.is_empty();
        ensure(is_first, || Fault::Twice("errors of a path forest"))?;
        all.extend(nodes);
        errors.extend(missing);
        Ok(())
    }
}
