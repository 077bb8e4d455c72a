//! A fleet made of a few real profiles: windows of many JVMs over days, two builds, and facts planted in them that the ready
//! questions have to find.
//!
//! `tests/seeds` has the programs. Build `one` runs for the first half of the days, build `two` from then on; on the last host
//! `two` runs with a cache that is of no use. A window's counts are those of its seed, each JVM's and day's times another
//! factor, and every path's with a noise of 2 %; so shares of paths stay, up to that.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trodden_profile::{MethodCounts, Profile, facts::Facts};

/// The service.
pub const SERVICE: &str = "shop";
/// First day of every fleet: 2026-10-01, in milliseconds since 1970-01-01.
pub const FIRST_MS: u64 = 1_790_812_800_000;
/// Milliseconds of a day.
pub const DAY_MS: u64 = 86_400_000;

/// How large, and which of all possible ones.
#[derive(Clone, Copy, Debug)]
pub struct Fleet {
    /// JVMs at a time; each has a host of its own.
    pub jvms: u32,
    /// Days; each JVM has a window a day.
    pub days: u32,
    /// How many classes there are of each that the seeds have: for programs of another size.
    pub copies: u32,
    /// Chooses factors and names.
    pub seed: u64,
}

impl Default for Fleet {
    fn default() -> Self {
        Fleet {
            jvms: 8,
            days: 6,
            copies: 1,
            seed: 1,
        }
    }
}

impl Fleet {
    /// Day on which build `two` comes.
    pub fn change(&self) -> u32 {
        self.days.div_ceil(2)
    }

    /// The first day of the newest build, in milliseconds since 1970-01-01.
    pub fn change_ms(&self) -> u64 {
        FIRST_MS + u64::from(self.change()) * DAY_MS
    }

    /// The host that differs.
    pub fn odd_host(&self) -> String {
        host(self.jvms - 1)
    }

    /// How many windows.
    pub fn len(&self) -> u64 {
        u64::from(self.jvms) * u64::from(self.days)
    }

    /// All windows, day by day, with the names of their files.
    pub fn windows(&self) -> impl Iterator<Item = (String, Profile)> + '_ {
        let seeds = Seeds::load(self.copies);
        let all = (0..self.days).flat_map(|day| (0..self.jvms).map(move |jvm| (day, jvm)));
        all.map(move |(day, jvm)| self.window(&seeds, day, jvm))
    }

    /// Writes all windows into a folder, as an agent's spool has them.
    pub fn write(&self, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
        std::fs::create_dir_all(folder)?;
        let write = |(name, profile): (String, Profile)| {
            let path = folder.join(name);
            let bytes = profile.to_bytes().map_err(std::io::Error::other)?;
            std::fs::write(&path, bytes)?;
            Ok(path)
        };
        self.windows().map(write).collect()
    }

    fn window(&self, seeds: &Seeds, day: u32, jvm: u32) -> (String, Profile) {
        let second = day >= self.change();
        let (build, seed) = match (second, jvm + 1 == self.jvms) {
            (false, _) => ("one", &seeds.one),
            (true, false) => ("two", &seeds.two),
            (true, true) => ("two", &seeds.odd),
        };
        let mut random = Random(self.seed ^ u64::from(jvm) << 32 ^ u64::from(second) << 63);
        let id = format!("{:016x}{:016x}", random.next(), random.next());
        let number = if second { day - self.change() } else { day } + 1;
        let mut random = Random(random.next() ^ u64::from(number));
        let started = FIRST_MS + u64::from(day) * DAY_MS + random.below(60_000);
        let mut profile = seed.clone();
        let factor = 500 + random.below(1_001);
        for class in &mut profile.classes {
            class
                .counts
                .iter_mut()
                .for_each(|counts| scale(counts, factor, &mut random));
        }
        profile.run.started_ms = started;
        profile.run.seconds = 3_600.0 * 23.0;
        let facts = [
            ("service", SERVICE.to_owned()),
            ("build", build.to_owned()),
            ("host", host(jvm)),
            (
                "labels",
                format!("region:{}", if jvm.is_multiple_of(2) { "eu" } else { "us" }),
            ),
            ("jvm_id", id.clone()),
            ("window", number.to_string()),
            ("window_started_ms", started.to_string()),
            ("window_ended_ms", (started + 23 * 3_600_000).to_string()),
            // The seeds' program throws nothing, and was at its end: no path is missing.
            ("cut_paths", "count".to_owned()),
            ("open_paths", "read".to_owned()),
        ];
        let ends = day + 1 == if second { self.days } else { self.change() };
        let facts: Facts = facts
            .into_iter()
            .chain(ends.then(|| ("window_last", "true".to_owned())))
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        profile.run.facts.append(facts);
        (format!("{id}-{number:08}.trodden"), profile)
    }
}

fn host(jvm: u32) -> String {
    format!("host-{jvm:04}")
}

/// The recorded profiles.
struct Seeds {
    one: Profile,
    two: Profile,
    odd: Profile,
}

impl Seeds {
    fn load(copies: u32) -> Self {
        Seeds {
            one: seed("one.trodden", copies),
            two: seed("two.trodden", copies),
            odd: seed("odd.trodden", copies),
        }
    }
}

/// A recorded profile, with a number of copies of each of its classes.
pub fn seed(name: &str, copies: u32) -> Profile {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/seeds")
        .join(name);
    let mut profile = Profile::load(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    copy(&mut profile, copies);
    profile
}

/// More of the same classes, under other names that come behind them.
fn copy(profile: &mut Profile, copies: u32) {
    let classes = profile.classes.clone();
    let conditions = profile.conditions.clone();
    for copy in 1..copies {
        for (position, class) in classes.iter().enumerate() {
            let mut map = (*class.map).clone();
            map.name = format!("{}{copy:06}", map.name);
            let place = profile.classes.len() as u32;
            let of_class = conditions.iter().filter(|((of, _), _)| *of as usize == position);
            let copied: BTreeMap<_, _> = of_class
                .map(|(&(_, method), what)| ((place, method), what.clone()))
                .collect();
            profile.conditions.extend(copied);
            let mut class = class.clone();
            class.map = Arc::new(map);
            profile.classes.push(class);
        }
    }
}

fn scale(counts: &mut MethodCounts, factor: u64, random: &mut Random) {
    for count in counts.paths.values_mut() {
        let noise = 980 + random.below(41);
        let scaled = u128::from(*count) * u128::from(factor) * u128::from(noise) / 1_000_000;
        // What ran at all still does.
        *count = u64::try_from(scaled).unwrap_or(u64::MAX).max(1);
    }
}

/// SplitMix64: the same numbers everywhere.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
