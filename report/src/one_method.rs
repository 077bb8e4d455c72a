//! One method of a profile, in the words of the text report: for views that show a profile while it grows, and that need
//! not pay for all other methods.

use std::path::PathBuf;
use std::rc::Rc;

use trodden_insight::path_time::{Names, PathTime, Times, measured};
use trodden_insight::route::route;
use trodden_insight::source::Sources;
use trodden_insight::view::{BranchView, MethodView, PathView};
use trodden_profile::{Profile, printable};

use crate::text::branch::branch_words;
use crate::words;

/// A method and its paths, for a report of other counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OneMethod {
    /// Its paths, those with the most time first, then those with the most decisions; prefixes that samples cut short
    /// among them.
    pub paths: Vec<OnePath>,
    /// How many of its samples are divided among its paths by counts, if they are more than a tenth.
    pub divided: Option<String>,
    /// Its branches and switches in the order of the bytecode, without those that the compiler made on its own.
    pub branches: Vec<String>,
}

/// A path of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OnePath {
    /// Its number; with `prefix` that of the prefix.
    pub number: u64,
    /// Was it cut short by the sample?
    pub prefix: bool,
    /// How often it was counted or sampled.
    pub count: u64,
    /// Its part of the method's decisions; of its count, where the method has none.
    pub share: f64,
    /// Its part of the method's time, if that has samples.
    pub time: Option<PathTime>,
    /// The way it took: `7 · 8–9 hit != null → no · 12`.
    pub way: String,
    /// Where it begins and ends.
    pub from_to: String,
}

impl OneMethod {
    /// Of the method with this internal class name, name and descriptor; of all of them, where several class loaders have
    /// one. `None`: no class of the profile has it.
    pub fn of(profile: &Profile, names: (&str, &str, &str), sources: &[PathBuf]) -> Option<Self> {
        let sources = Rc::new(Sources::new(sources));
        let times = (profile.cpu.as_ref()).map(|samples| Times::new(samples, &measured(profile)));
        let mut found: Option<OneMethod> = None;
        for (position, class) in profile.classes.iter().enumerate() {
            for (index, map) in class.map.methods.iter().enumerate() {
                let of: Names = (&class.map.name, &map.name, &map.descriptor);
                let Some(counts) = class.counts.get(index).filter(|_| of == names) else {
                    continue;
                };
                let mut method = MethodView::new(class, map, counts, Rc::clone(&sources));
                method.readings = profile.run.has_readings_only();
                let place = (position as u32, index as u32);
                let times = times.as_ref().and_then(Times::if_enough);
                method.describe(profile.conditions.get(&place), times);
                found.get_or_insert_default().add(&method);
            }
        }
        if let Some(one) = &mut found {
            let time = |path: &OnePath| path.time.map_or(0.0, |time| time.share);
            let hotter = |a: &OnePath, b: &OnePath| time(b).total_cmp(&time(a));
            one.paths.sort_by(hotter);
        }
        found
    }

    fn add(&mut self, method: &MethodView) {
        let decisions = method.decisions();
        let path = |(path, prefix): (&PathView, bool)| {
            let d = &path.description;
            let (starts, ends) = (decisions.starts(method.map, d), decisions.ends(method.map, d));
            OnePath {
                number: path.number,
                prefix,
                count: path.count,
                share: path.share_of_method,
                time: path.time,
                way: printable(&route(path, method.map, decisions)).into_owned(),
                from_to: printable(&format!("from {starts} to {ends}")).into_owned(),
            }
        };
        self.divided = self
            .divided
            .take()
            .or(method.time.as_ref().and_then(words::divided));
        let whole = method.paths.iter().map(|path| (path, false));
        let prefixes = method.partial.iter().map(|path| (path, true));
        self.paths.extend(whole.chain(prefixes).map(path));
        let own = |branch: &&BranchView| decisions.made(branch.block).is_none();
        let branches = method.branches.iter().filter(own);
        let words = branches.map(|branch| printable(&branch_words(method, branch)).into_owned());
        self.branches.extend(words);
    }
}
