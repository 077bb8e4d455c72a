//! Profile-guided probes: with the profile of a former run, the same paths are counted equally often, under
//! other numbers, and fewer register updates are on the way.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use trodden_numbering::{BlockId, EdgeRef, StartKind};
use trodden_profile::{EdgeProfile, Profile};
use trodden_tests::jdk::Jdk;
use trodden_tests::profile;
use trodden_tests::target::Target;
use trodden_tests::trace::MethodId;
use trodden_tests::{Result, ahead, events, pages, process, stress};

const LIMIT: Duration = Duration::from_secs(300);
const TARGETS: [&str; 5] = ["Classes", "Exceptions", "Loops", "ManyPaths", "Switches"];

/// Counts by what a path is, not by its number.
type Walks = BTreeMap<MethodId, BTreeMap<(StartKind, BlockId, Vec<EdgeRef>), u64>>;

fn walks(profile: &Profile) -> Result<Walks> {
    let mut walks = Walks::new();
    for (id, map, counts) in profile::methods(profile) {
        for (&number, &count) in counts.iter().filter(|&(_, &count)| count > 0) {
            let path = map.dag.regenerate(&map.graph, number)?;
            let paths = walks.entry(id.clone()).or_default();
            *paths.entry((path.start, path.first, path.edges)).or_default() += count;
        }
    }
    Ok(walks)
}

/// How often an edge with a register update was followed.
fn updates(profile: &Profile) -> u64 {
    let mut sum = 0;
    for class in &profile.classes {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            for (block, row) in EdgeProfile::of(map, counts).edges.iter().enumerate() {
                let values = map.dag.values(BlockId::new(block));
                let updated = row.iter().zip(values).filter(|&(_, &value)| value != 0);
                sum += updated.map(|(times, _)| times).sum::<u64>();
            }
        }
    }
    sum
}

fn under_agent(target: &Target, jdk: &Jdk, more: &str, file: &Path) -> Result<(process::Outcome, Profile)> {
    let flag = profile::agent_flag("counters", &format!("{}*", target.name), file)? + more;
    let command = &mut target.command(jdk, &[flag])?;
    let outcome = process::run(command, LIMIT)?;
    Ok((outcome, Profile::load(file)?))
}

#[test]
fn the_same_paths_are_counted_with_fewer_updates() -> Result<()> {
    let targets = Target::all()?;
    for jdk in Jdk::ends()? {
        let (mut before, mut after) = (0, 0);
        for name in TARGETS {
            let target = targets.iter().find(|t| t.name == name).ok_or(name)?;
            let folder = tempfile::tempdir()?;
            let former = folder.path().join("former.trodden");
            let plain = profile::run_plain(target, &jdk)?;
            let (outcome, first) = under_agent(target, &jdk, "", &former)?;
            assert_eq!(outcome, plain, "{name}");
            let option = format!(",use-profile={}", former.display());
            let (outcome, second) =
                under_agent(target, &jdk, &option, &folder.path().join("second.trodden"))?;
            assert_eq!(outcome, plain, "{name}");
            assert_eq!(walks(&first)?, walks(&second)?, "{name} on JDK {}", jdk.feature);
            let merged = trodden_profile::merge([&first, &second])?;
            for (id, paths) in walks(&merged)? {
                let once = &walks(&first)?[&id];
                assert!(
                    paths.iter().all(|(path, &count)| count == 2 * once[path]),
                    "{id:?}"
                );
            }
            let [was, is] = [&first, &second].map(updates);
            assert!(is <= was, "{name}: {is} updates after {was}");
            (before, after) = (before + was, after + is);

            // Ahead of the run, by the same profile.
            let jar = ahead::jar(target, &jdk, folder.path())?;
            let options = [
                "--probe",
                "counters",
                "--use-profile",
                former.to_str().ok_or("path")?,
            ];
            let ahead = ahead::instrument_with(&jar, &options, &folder.path().join("ahead.jar"))?;
            let dags = |profile: &Profile| -> BTreeMap<_, _> {
                let methods = profile::methods(profile).map(|(id, map, _)| (id, map.dag.clone()));
                methods.collect()
            };
            let (of_agent, of_jar) = (dags(&second), dags(&ahead.map));
            for (id, dag) in &of_agent {
                assert_eq!(Some(dag), of_jar.get(id), "{name} {id:?}");
            }
            let file = folder.path().join("ahead.trodden");
            let outcome = ahead::run(&ahead.file, &jdk, &ahead::library(&jdk, &file)?)?;
            assert_eq!(
                (outcome.stdout, outcome.status),
                (plain.stdout, plain.status),
                "{name}"
            );
            assert_eq!(walks(&Profile::load(&file)?)?, walks(&first)?, "{name}");
        }
        assert!(after < before, "{after} updates of {before}");
        println!("JDK {}: {after} updates in place of {before}", jdk.feature);
    }
    Ok(())
}

#[test]
fn a_former_profile_that_is_none_is_told_and_the_program_runs() -> Result<()> {
    let targets = Target::all()?;
    let target = targets.iter().find(|t| t.name == "Loops").ok_or("Loops")?;
    let jdk = Jdk::newest()?;
    let plain = profile::run_plain(target, &jdk)?;
    let folder = tempfile::tempdir()?;
    let empty = folder.path().join("empty.trodden");
    Profile::default().save(&empty)?;
    let foreign = folder.path().join("foreign");
    std::fs::write(&foreign, "no profile")?;
    let missing = folder.path().join("missing");
    for (file, reason) in [
        (&empty, "holds no counts of paths"),
        (&foreign, "not a"),
        (&missing, "cannot read"),
    ] {
        let out = folder.path().join("out.trodden");
        let flag =
            profile::agent_flag("counters", "Loops", &out)? + &format!(",use-profile={}", file.display());
        let command = &mut target.command(&jdk, &[flag])?;
        let outcome = process::run(command, LIMIT)?;
        assert_eq!((&outcome.stdout, outcome.status), (&plain.stdout, plain.status));
        let named =
            outcome.stderr.contains("use-profile: ") && outcome.stderr.contains(&*file.to_string_lossy());
        assert!(named && outcome.stderr.contains(reason), "{}", outcome.stderr);
        assert!(!out.exists());

        let jar = ahead::jar(target, &jdk, folder.path())?;
        let options = ["--use-profile", file.to_str().ok_or("path")?];
        let refused = ahead::instrument_with(&jar, &options, &folder.path().join("out.jar"));
        let error = refused.err().ok_or("not refused")?.to_string();
        assert!(
            error.contains(reason) && error.contains(&*file.to_string_lossy()),
            "{error}"
        );
        assert!(!folder.path().join("out.jar").exists());
    }
    Ok(())
}

/// In the middle of a run, hot classes get other numbers: nothing is counted twice or lost.
#[test]
fn a_run_numbers_its_own_hot_classes_again() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let record = |options: &str| -> Result<([u64; 2], [u64; 2], Profile)> {
            let file = folder.path().join("out.trodden");
            let flags = profile::SUSPICIOUS.iter().map(|&flag| flag.to_owned());
            let mut flags: Vec<String> = flags.collect();
            flags.push(profile::agent_flag(options, "Signs", &file)?);
            let command = &mut stress::java("Signs", &jdk, &flags, &["4000"])?;
            let outcome = process::run(command, LIMIT)?.success()?;
            assert_eq!(outcome.stderr, "");
            let mut numbers = outcome.stdout.split_whitespace().map(str::parse);
            let mut next = || numbers.next().ok_or("too few numbers");
            let printed = [next()??, next()??];
            let profile = Profile::load(&file)?;
            let mut counted = [0, 0];
            for (_, map, counts) in profile::methods(&profile).filter(|(id, ..)| id.name == "classify") {
                for (&number, &count) in counts {
                    // Of the paths that come, the longer one adds three times.
                    let negative = map.dag.regenerate(&map.graph, number)?.blocks(&map.graph).len() > 4;
                    counted[usize::from(!negative)] += count;
                }
            }
            Ok((printed, counted, profile))
        };
        let (printed, counted, profile) = record("counters,use-profile=own:1s")?;
        assert_eq!(counted, printed, "JDK {}", jdk.feature);
        assert!(profile.run.exact);
        assert_eq!(profile.classes.len(), 1);
        assert_eq!(events::fact(&profile, "classes_renumbered")?, 1);
        // Counts of numbers before and after make up one whole for samples, too.
        let (printed, counted, profile) = record("yieldpoint,use-profile=own:1s")?;
        assert_eq!(profile.classes.len(), 1);
        assert_eq!(events::fact(&profile, "unknown_samples")?, 0);
        let share = |[most, rest]: [u64; 2]| rest as f64 / (most + rest) as f64;
        assert!(
            (share(printed) - share(counted)).abs() < 0.01,
            "JDK {}: {printed:?} {counted:?}",
            jdk.feature
        );
    }
    Ok(())
}

#[test]
fn the_commands_of_the_documentation_work() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let (blocks, outcome) = pages::run("profile-guided.md", &jdk, folder.path())?;
        assert_eq!(blocks, 3);
        assert_eq!(
            outcome.stdout.matches("sum 700000").count(),
            3,
            "{}",
            outcome.stdout
        );
        assert!(
            outcome.stderr.contains("placed by former.trodden"),
            "{}",
            outcome.stderr
        );
        let load = |name: &str| Profile::load(folder.path().join(name));
        let (guided, ahead) = (load("guided.trodden")?, load("ahead.trodden")?);
        assert_eq!(walks(&guided)?, walks(&ahead)?);
        // All branches of `classify` go the same way each time: none of its hot edges has an update.
        let classify = |profile: &Profile| {
            let mut profile = profile.clone();
            for class in &mut profile.classes {
                for (map, counts) in class.map.methods.iter().zip(&mut class.counts) {
                    counts.paths.retain(|_, _| map.name == "classify");
                }
            }
            (
                updates(&profile),
                profile
                    .classes
                    .iter()
                    .flat_map(|c| &c.counts)
                    .map(|c| c.total())
                    .sum::<u64>(),
            )
        };
        assert_eq!(classify(&guided), (0, 100_000));
    }
    Ok(())
}
