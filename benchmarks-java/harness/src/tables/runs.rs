//! Tables from the raw data of `trodden-bench run`: OSP's tables 2 (overhead) and 4 (memory).

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::stats::{Spread, geometric_mean};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Lines of a CSV file without quotes, each as its fields by name.
pub(super) fn read(file: &Path) -> Result<Vec<BTreeMap<String, String>>> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let row = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != head.len() {
            return Err(format!("{}:{}: not {} fields", file.display(), number + 2, head.len()).into());
        }
        let named = head.iter().zip(fields);
        Ok(named
            .map(|(name, field)| (name.to_string(), field.to_owned()))
            .collect())
    };
    lines.enumerate().map(row).collect()
}

pub(super) fn field<'a>(row: &'a BTreeMap<String, String>, name: &str) -> Result<&'a str> {
    Ok(row.get(name).ok_or_else(|| format!("no column '{name}'"))?)
}

/// Distinct values in the order in which they come.
pub(super) fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

pub(super) fn feature(jdk: &str) -> u32 {
    jdk.split('.').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn percent(values: &[f64]) -> String {
    let show = |value: f64| format!("{:.0}", 100.0 * value);
    Spread::of(values).map_or("-".into(), |s| {
        format!("{} % ({} to {})", show(s.median), show(s.min), show(s.max))
    })
}

/// JDK, workload, configuration and pair.
type Jvm = (String, String, String, String);
/// Processor nanoseconds, and milliseconds of each iteration.
type Times = (f64, Vec<f64>);

/// OSP's table 2 of runs with the configurations `base`, `probes` and `probes-idle`. Ratios are of processor
/// time: all threads of the JVM, all measured iterations of a pair. *Total*: `probes` to `base`. *Skipping*:
/// `probes-idle`, which hardly ever samples, to `base`. *Sampling*: the difference of the two.
pub fn overhead(folders: &[PathBuf]) -> Result<String> {
    const CONFIGS: [&str; 3] = ["base", "probes", "probes-idle"];
    let mut times: BTreeMap<Jvm, Times> = BTreeMap::new();
    let (mut jdks, mut names) = (Vec::new(), Vec::new());
    for folder in folders {
        for row in read(&folder.join("raw.csv"))? {
            if field(&row, "iteration")?.parse::<i64>()? < 0 {
                continue;
            }
            let [jdk, name] = [
                field(&row, "jdk")?.to_owned(),
                field(&row, "workload")?.to_owned(),
            ];
            let key = (
                jdk.clone(),
                name.clone(),
                field(&row, "config")?.into(),
                field(&row, "pair")?.into(),
            );
            let of = times.entry(key).or_default();
            of.0 += field(&row, "cpu_nanos")?.parse::<f64>()?;
            of.1.push(field(&row, "nanos")?.parse::<f64>()? / 1e6);
            names.push((jdk.clone(), name));
            jdks.push(jdk);
        }
    }
    let mut jdks = distinct(jdks.into_iter());
    jdks.sort_by_key(|jdk| feature(jdk));
    let mut text = String::new();
    for jdk in jdks {
        let _ = writeln!(
            text,
            "\n**JDK {jdk}**\n\n| program | base, ms | probes, ms | total overhead | skipping alone | sampling overhead |\n\
             | --- | ---: | ---: | ---: | ---: | ---: |"
        );
        let (mut totals, mut idles) = (Vec::new(), Vec::new());
        for name in distinct(
            names
                .iter()
                .filter(|(of, _)| *of == jdk)
                .map(|(_, name)| name.clone()),
        ) {
            let get = |config: &str, pair: &str| {
                times.get(&(jdk.clone(), name.clone(), config.to_owned(), pair.to_owned()))
            };
            let keys = times
                .keys()
                .filter(|key| key.0 == jdk && key.1 == name && key.2 == "base");
            let pairs: Vec<&String> = keys.map(|key| &key.3).collect();
            let whole = |pair: &&&String| CONFIGS.iter().all(|config| get(config, pair).is_some());
            let pairs: Vec<&String> = pairs.iter().filter(whole).copied().collect();
            let [base, probes, idle] =
                CONFIGS.map(|config| pairs.iter().filter_map(|p| get(config, p)).collect::<Vec<_>>());
            if pairs.is_empty() {
                continue;
            }
            let more = |of: &[&Times]| -> Vec<f64> {
                of.iter()
                    .zip(&base)
                    .map(|(one, base)| one.0 / base.0 - 1.0)
                    .collect()
            };
            let median = |values: &[f64]| Spread::of(values).map_or(f64::NAN, |s| s.median);
            let wall = |of: &[&Times]| median(&of.iter().map(|one| median(&one.1)).collect::<Vec<_>>());
            let (total, skipping) = (more(&probes), more(&idle));
            let sampling: Vec<f64> = total.iter().zip(&skipping).map(|(a, b)| a - b).collect();
            let _ = writeln!(
                text,
                "| {name} | {:.0} | {:.0} | {} | {} | {} |",
                wall(&base),
                wall(&probes),
                percent(&total),
                percent(&skipping),
                percent(&sampling)
            );
            totals.push(1.0 + median(&total));
            idles.push(1.0 + median(&skipping));
        }
        let mean = |values: &[f64]| {
            geometric_mean(values).map_or("-".into(), |m| format!("{:.0} %", 100.0 * (m - 1.0)))
        };
        if !totals.is_empty() {
            let (all, skipping) = (mean(&totals), mean(&idles));
            let _ = writeln!(
                text,
                "| **geometric mean of {}** | | | {all} | {skipping} | |",
                totals.len()
            );
        }
    }
    Ok(text)
}

/// OSP's table 4 of `resident.csv` files: the most memory of a JVM that was ever resident (VmHWM), in MiB. It
/// is that of the whole JVM: heap (as the collector sizes it), class data, compiled code, the agent.
pub fn resident(files: &[PathBuf]) -> Result<String> {
    let mut values: BTreeMap<[String; 3], Vec<f64>> = BTreeMap::new();
    let mut keys = Vec::new();
    for file in files {
        for row in read(file)? {
            let key = [
                field(&row, "jdk")?,
                field(&row, "workload")?,
                field(&row, "config")?,
            ]
            .map(str::to_owned);
            keys.push(format!("{},{}", key[0], key[1]));
            values
                .entry(key)
                .or_default()
                .push(field(&row, "kib")?.parse::<f64>()? / 1024.0);
        }
    }
    let mut keys = distinct(keys.into_iter());
    keys.sort_by_key(|key| feature(key));
    let mut text = String::from(
        "| program, JDK | no agent | `probes` | more | `probes-idle` |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    for key in keys {
        let (jdk, name) = key.split_once(',').unwrap_or((&key, ""));
        let spread = |config: &str| {
            let key = [jdk, name, config].map(str::to_owned);
            values.get(&key).and_then(|values| Spread::of(values))
        };
        let cell = |spread: Option<Spread>| {
            spread.map_or("-".into(), |s| {
                format!("{:.1} ({:.1} to {:.1})", s.median, s.min, s.max)
            })
        };
        let [base, probes, idle] = ["base", "probes", "probes-idle"].map(spread);
        let more = base
            .zip(probes)
            .map_or("-".into(), |(b, p)| format!("{:+.1}", p.median - b.median));
        let (base, probes, idle) = (cell(base), cell(probes), cell(idle));
        let _ = writeln!(
            text,
            "| {name}, {} | {base} | {probes} | {more} | {idle} |",
            feature(jdk)
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overhead_is_pair_by_pair() {
        let folder = tempfile::tempdir().unwrap();
        let mut raw = String::from("jdk,workload,config,pair,iteration,nanos,cpu_nanos,checksum\n");
        for (config, pair, cpu) in [
            ("base", 0, 100),
            ("probes", 0, 150),
            ("probes-idle", 0, 130),
            ("base", 1, 200),
            ("probes", 1, 220),
            ("probes-idle", 1, 200),
            ("base", 2, 1),
        ] {
            raw += &format!(
                "17.0.1,fft,{config},{pair},-1,9,9,0\n17.0.1,fft,{config},{pair},0,2000000,{cpu},0\n"
            );
        }
        std::fs::write(folder.path().join("raw.csv"), raw).unwrap();
        let text = overhead(&[folder.path().to_owned()]).unwrap();
        let row = "| fft | 2 | 2 | 30 % (10 to 50) | 15 % (0 to 30) | 15 % (10 to 20) |";
        assert!(text.contains(row), "{text}");
        assert!(
            text.contains("| **geometric mean of 1** | | | 30 % | 15 % | |"),
            "{text}"
        );
    }

    #[test]
    fn memory_is_shown_in_mebibytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("resident.csv");
        std::fs::write(
            &file,
            "jdk,workload,config,kib\n25.0.1,fft,base,1024\n25.0.1,fft,base,3072\n25.0.1,fft,probes,4096\n",
        )
        .unwrap();
        let text = resident(&[file]).unwrap();
        assert!(
            text.contains("| fft, 25 | 2.0 (1.0 to 3.0) | 4.0 (4.0 to 4.0) | +2.0 | - |"),
            "{text}"
        );
    }
}
