//! Methods, branches and paths that a store describes already: they are not described again.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};
use trodden_profile::{Key, Profile};
use trodden_report::{InWords, WayOut};

use super::batch::Build;
use super::classes::{Classes, regenerate};
use super::extract::Extract;
use super::signatures::{Names, Signature};
use crate::error::{StoreError, Unfit};
use crate::file;
use crate::log::{FileEntry, State};
use crate::store::Store;
use crate::tables::Table;

/// First 128 bits of a hash of the columns that distinguish a row from others.
type Id = u128;

/// Rows that are new, of one service and build.
#[derive(Debug, Default)]
pub(crate) struct Dimensions {
    pub methods: Vec<MethodRow>,
    pub branches: Vec<BranchRow>,
    pub texts: Vec<TextRow>,
}

#[derive(Debug)]
pub(crate) struct MethodRow {
    pub signature: Signature,
    pub graph: Key,
    pub source_file: Option<String>,
    pub line: Option<u32>,
    pub possible_paths: u64,
}

#[derive(Debug)]
pub(crate) struct BranchRow {
    pub signature: Signature,
    pub graph: Key,
    pub edge: Key,
    pub way: WayOut,
}

#[derive(Debug)]
pub(crate) struct TextRow {
    pub signature: Signature,
    pub graph: Key,
    pub path: Key,
    pub text: String,
    pub decisions: u64,
}

/// The rows that are known of each service's builds.
#[derive(Default)]
pub(crate) struct Known(BTreeMap<Build, OfBuild>);

#[derive(Default)]
struct OfBuild {
    /// Files that were looked into.
    files: BTreeSet<String>,
    ids: HashSet<Id>,
    /// Classes whose methods and branches are all known; with the bits of methods whose decisions are known
    /// as text.
    classes: FxHashMap<u64, FxHashSet<u32>>,
    /// Paths whose text is known.
    paths: FxHashSet<(Signature, Key)>,
}

impl Known {
    /// Looks into files of the store that are new.
    pub async fn look(&mut self, store: &Store, state: &State, build: &Build) -> Result<(), StoreError> {
        let of = self.0.entry(build.clone()).or_default();
        for file in of.unknown(state, build) {
            let file = &file;
            let bytes = store.read_file(file).await?;
            let columns: &[&str] = match file.table {
                Table::Methods => &["class", "method", "descriptor", "graph"],
                Table::Branches => &[
                    "class",
                    "method",
                    "descriptor",
                    "graph",
                    "edge",
                    "condition",
                    "outcome",
                ],
                _ => &["class", "method", "descriptor", "graph", "path"],
            };
            let damaged = |reason: Unfit| store.damaged(store.location(file), reason);
            for batch in file::read_columns(bytes, columns).map_err(damaged)? {
                let batch = batch.map_err(|e| damaged(e.into()))?;
                of.take_in(file.table, &batch).map_err(damaged)?;
            }
            of.files.insert(file.path.clone());
        }
        Ok(())
    }

    /// A file that was just written, whose rows are known.
    pub fn wrote(&mut self, build: &Build, path: &str) {
        self.0
            .entry(build.clone())
            .or_default()
            .files
            .insert(path.to_owned());
    }

    /// Forgets all: what was not written in the end is not known; and classes get other numbers.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        self.0
            .values()
            .map(|of| of.ids.len() * 40 + of.paths.len() * 32 + of.classes.len() * 100)
            .sum()
    }

    /// Adds rows for what a profile has and the store has not.
    pub fn add_new(
        &mut self,
        profile: &Profile,
        extract: &Extract,
        classes: &Classes,
        new: &mut Dimensions,
        names: &mut Vec<Names>,
    ) {
        let about = &extract.window.about;
        let build = Build {
            service: about.service.clone(),
            build: about.build.clone(),
        };
        let of = self.0.entry(build).or_default();
        if names.len() < classes.signatures.len() {
            *names = classes.signatures.all();
        }
        for (position, class) in extract.classes.iter().enumerate() {
            let is_new = !of.classes.contains_key(&class.id);
            let worded = of.classes.entry(class.id).or_default();
            let file = class.map.source_file.as_deref();
            for (index, (map, method)) in class.map.methods.iter().zip(&class.methods).enumerate() {
                let conditions = profile.conditions.get(&(position as u32, index as u32));
                // Of methods that did not run yet a profile says less.
                let says_more =
                    conditions.is_some_and(|of| of.conditions.iter().any(|one| one.text.is_some()));
                if !is_new && (!says_more || worded.contains(&(index as u32))) {
                    continue;
                }
                if says_more {
                    worded.insert(index as u32);
                }
                let name = &names[method.signature.index()];
                if is_new && of.ids.insert(id(name, method.graph, "", "")) {
                    new.methods.push(MethodRow {
                        signature: method.signature,
                        graph: method.graph,
                        source_file: file.map(str::to_owned),
                        line: map.line(0),
                        possible_paths: map.num_paths(),
                    });
                }
                let Some(words) = InWords::new(map, conditions) else {
                    continue;
                };
                let keys = method.ways.iter().map(|way| way.key);
                for (way, edge) in words.ways_out().into_iter().zip(keys) {
                    let [rich, poor] =
                        ["rich", "poor"].map(|kind| id(name, method.graph, kind, &edge.to_string()));
                    let is_new = if is_rich(way.condition.as_deref()) {
                        of.ids.insert(rich)
                    } else {
                        !of.ids.contains(&rich) && of.ids.insert(poor)
                    };
                    if is_new {
                        new.branches.push(BranchRow {
                            signature: method.signature,
                            graph: method.graph,
                            edge,
                            way,
                        });
                    }
                }
            }
        }
        let mut words: Option<((u32, u32), Option<InWords>)> = None;
        for &(position, index, number) in &extract.counted {
            let class = &extract.classes[position as usize];
            let (map, method) = (&class.map.methods[index as usize], &class.methods[index as usize]);
            let Some(path) = classes.path(class, index as usize, number) else {
                continue;
            };
            if !of.paths.insert((method.signature, path.key)) {
                continue;
            }
            let name = &names[method.signature.index()];
            if !of
                .ids
                .insert(id(name, method.graph, "path", &path.key.to_string()))
            {
                continue;
            }
            let place = (position, index);
            if words.as_ref().is_none_or(|(of, _)| *of != place) {
                words = Some((place, InWords::new(map, profile.conditions.get(&place))));
            }
            let in_words = words.as_ref().and_then(|(_, words)| words.as_ref());
            if let (Some(in_words), Some(taken)) = (in_words, regenerate(map, number)) {
                new.texts.push(TextRow {
                    signature: method.signature,
                    graph: method.graph,
                    path: path.key,
                    text: in_words.path(&taken),
                    decisions: path.ways.len() as u64,
                });
            }
        }
    }
}

/// Returns true if a row says what is decided, in the source's terms. It represents the others of the same
/// edge.
fn is_rich(condition: Option<&str>) -> bool {
    condition.is_some()
}

impl OfBuild {
    /// Files that were not looked into yet.
    fn unknown(&mut self, state: &State, build: &Build) -> Vec<FileEntry> {
        let tables = [Table::Methods, Table::Branches, Table::PathTexts];
        let files = tables.into_iter().flat_map(|table| state.files(table));
        let files: Vec<&FileEntry> = files
            .filter(|file| file.service == build.service && file.build == build.build)
            .collect();
        let there: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        if self.files.iter().any(|path| !there.contains(path.as_str())) {
            // Compacted, or dropped: then what it said is not said any more.
            *self = OfBuild::default();
        }
        let new = files.into_iter().filter(|file| !self.files.contains(&file.path));
        new.cloned().collect()
    }

    fn take_in(&mut self, table: Table, batch: &RecordBatch) -> Result<(), Unfit> {
        let text = |name: &str| -> Result<ArrayRef, Unfit> {
            let array = batch.column_by_name(name).ok_or_else(|| Unfit::no_column(name))?;
            Ok(cast(array, &DataType::Utf8)?)
        };
        let (class, method, descriptor, graph) = (
            text("class")?,
            text("method")?,
            text("descriptor")?,
            text("graph")?,
        );
        let (class, method, descriptor, graph) = (
            class.as_string::<i32>(),
            method.as_string::<i32>(),
            descriptor.as_string::<i32>(),
            graph.as_string::<i32>(),
        );
        let more = match table {
            Table::Branches => Some((text("edge")?, Some(text("condition")?))),
            Table::PathTexts => Some((text("path")?, None)),
            _ => None,
        };
        for row in 0..batch.num_rows() {
            let names = Names {
                class: class.value(row).into(),
                method: method.value(row).into(),
                descriptor: descriptor.value(row).into(),
            };
            let graph = Key(u64::from_str_radix(graph.value(row), 16)?);
            let (kind, key) = match &more {
                None => ("", ""),
                Some((path, None)) => ("path", path.as_string::<i32>().value(row)),
                Some((edge, Some(condition))) => {
                    let is_rich = !condition.is_null(row);
                    let kind = if is_rich { "rich" } else { "poor" };
                    (kind, edge.as_string::<i32>().value(row))
                }
            };
            self.ids.insert(id(&names, graph, kind, key));
        }
        Ok(())
    }
}

fn id(names: &Names, graph: Key, kind: &str, key: &str) -> Id {
    let mut hash = Sha256::new();
    for part in [&*names.class, &*names.method, &*names.descriptor, kind, key] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update(graph.0.to_le_bytes());
    let hash = hash.finalize();
    let (first, _) = hash.split_first_chunk().unwrap_or((&[0; 16], &[]));
    u128::from_le_bytes(*first)
}
