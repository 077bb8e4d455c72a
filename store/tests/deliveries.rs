//! Windows on their way into a store, over bad networks and under `kill -9`: each is in it once at the end,
//! and nothing else is.

mod fleet;
mod network;
#[path = "support/python.rs"]
mod python;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fleet::Fleet;
use network::moto::{self, Moto};
use network::proxy::{Fate, Proxy};

const PROGRAM: &str = env!("CARGO_BIN_EXE_trodden-store");

/// The questions to a store; the expected answers are from one that got the same windows in one delivery,
/// undisturbed.
const QUESTIONS: [&str; 4] = [
    "SELECT count(*) AS n, sum(path_ends) AS ends, min(window) AS low, max(window) AS high FROM windows",
    "SELECT jvm, sum(count) AS n FROM paths GROUP BY jvm ORDER BY jvm",
    "SELECT build, day, sum(count) AS n FROM path_days GROUP BY build, day ORDER BY build, day",
    "SELECT count(*) AS n FROM (SELECT DISTINCT class, method, graph, edge FROM branches) AS b",
];

/// Attempts, where none of them may be the last.
const MANY: u32 = 500;

struct World {
    folder: tempfile::TempDir,
    answers: Vec<String>,
    windows: usize,
}

impl World {
    fn new(fleet: Fleet) -> World {
        let folder = tempfile::tempdir().unwrap();
        let windows = fleet.write(&folder.path().join("all")).unwrap().len();
        let reference = folder.path().join("reference").display().to_string();
        let mut add = Command::new(PROGRAM);
        add.args(["add", &reference, "--create"])
            .arg(folder.path().join("all"));
        succeeds(&mut add);
        let answers = answers(&reference, None);
        assert!(answers[0].contains(&format!("{windows},")), "{}", answers[0]);
        World {
            folder,
            answers,
            windows,
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// A spool folder with all windows.
    fn spool(&self, name: &str) -> String {
        let spool = self.folder.path().join(name);
        fs::create_dir(&spool).unwrap();
        for file in fs::read_dir(self.folder.path().join("all")).unwrap().flatten() {
            fs::copy(file.path(), spool.join(file.file_name())).unwrap();
        }
        spool.display().to_string()
    }
}

/// With `batch` windows in a delivery; gives up after `attempts` failures.
fn ship(spool: &str, store: &str, batch: u32, attempts: u32) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["ship", "--once", "--create", "--from", spool, "--to", store]);
    command.args([
        "--batch",
        &batch.to_string(),
        "--attempts",
        &attempts.to_string(),
        "--longest-pause",
        "50ms",
    ]);
    command
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn answers(store: &str, server: Option<SocketAddr>) -> Vec<String> {
    let of = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(arguments);
        if let Some(server) = server {
            moto::s3(&mut command, server);
        }
        succeeds(&mut command)
    };
    of(&["verify", store]);
    let ask = |sql: &&str| of(&["query", store, "--format", "csv", "--sql", sql]);
    QUESTIONS.iter().map(ask).collect()
}

fn left(spool: &str) -> usize {
    let files = fs::read_dir(spool).unwrap().flatten();
    files
        .filter(|file| file.path().extension().is_some_and(|e| e == "trodden"))
        .count()
}

/// The same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % limit
    }
}

#[test]
fn through_a_bad_network_each_window_arrives_once() {
    let Some(server) = Moto::start() else { return };
    let world = World::new(Fleet::default());
    for seed in 1..=3 {
        let spool = world.spool(&format!("spool-{seed}"));
        let store = format!("s3://fleet/network-{seed}");
        let mut random = Random(seed);
        let proxy = Proxy::new(server.address, move |_, _, _| match random.below(30) {
            0 => Fate::Lost,
            1 | 2 => Fate::AnswerLost,
            3 => Fate::Cut,
            4 => Fate::SlowDown,
            5 => Fate::Fault,
            _ => Fate::Pass,
        })
        .unwrap();
        let mut command = ship(&spool, &store, 4, MANY);
        moto::s3(&mut command, proxy.address)
            .env("TRODDEN_STORE_TIMEOUT", "30")
            .env("TRODDEN_STORE_RETRY", "1");
        succeeds(&mut command);
        assert!(proxy.spoilt.load(std::sync::atomic::Ordering::Relaxed) > 3);
        assert_eq!(left(&spool), 0);
        assert_eq!(
            answers(&store, Some(server.address)),
            world.answers,
            "seed {seed}"
        );
    }
}

/// The answer to each commit gets lost once, and each time the log cannot be asked afterwards.
#[test]
fn a_commit_of_which_nobody_knows_keeps_its_files() {
    let Some(server) = Moto::start() else { return };
    let world = World::new(Fleet::default());
    let spool = world.spool("spool");
    let mut dark = 0;
    let proxy = Proxy::new(server.address, move |_, method, path| {
        let commit = path.contains("/log/") && path.ends_with(".json") && method == "PUT";
        if dark > 0 {
            dark -= 1;
            return Fate::Lost;
        }
        if commit {
            // As many as are tried again within the time that retries have.
            dark = 12;
            return Fate::AnswerLost;
        }
        Fate::Pass
    })
    .unwrap();
    let mut command = ship(&spool, "s3://fleet/unsure", 9, MANY);
    moto::s3(&mut command, proxy.address).env("TRODDEN_STORE_RETRY", "1");
    succeeds(&mut command);
    assert_eq!(left(&spool), 0);
    assert_eq!(answers("s3://fleet/unsure", Some(server.address)), world.answers);
}

#[test]
fn a_server_that_answers_too_late_is_left_alone_and_asked_again() {
    let Some(server) = Moto::start() else { return };
    let world = World::new(Fleet::default());
    let spool = world.spool("spool");
    let proxy = Proxy::new(server.address, |number, _, _| match number {
        4 | 9 => Fate::Late,
        _ => Fate::Pass,
    })
    .unwrap();
    let mut command = ship(&spool, "s3://fleet/late", 50, MANY);
    moto::s3(&mut command, proxy.address)
        .env("TRODDEN_STORE_TIMEOUT", "2")
        .env("TRODDEN_STORE_RETRY", "5");
    succeeds(&mut command);
    assert_eq!(answers("s3://fleet/late", Some(server.address)), world.answers);
}

/// Kills the shipper `times` times, at random moments, then lets it finish.
fn killed(times: u32, seed: u64) {
    let world = World::new(Fleet::default());
    let mut random = Random(seed);
    let (mut round, mut kills) = (0, 0);
    // Its own run shows how long it takes: kills are spread over that.
    let mut longest = 400;
    while kills < times {
        round += 1;
        let (spool, store) = (
            world.spool(&format!("spool-{round}")),
            world.path(&format!("store-{round}")),
        );
        loop {
            let mut child = ship(&spool, &store, 5, MANY)
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let since = std::time::Instant::now();
            let wait = Duration::from_millis(random.below(longest));
            while since.elapsed() < wait && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success());
                longest = (since.elapsed().as_millis() as u64 * 9 / 8).max(50);
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        }
        assert_eq!(left(&spool), 0);
        assert_eq!(
            answers(&store, None),
            world.answers,
            "round {round}, {kills} kills"
        );
    }
    println!("{kills} kills, {round} stores of {} windows", world.windows);
}

#[test]
fn killed_at_any_moment_each_window_arrives_once() {
    killed(25, 7);
}

#[test]
#[ignore = "minutes"]
fn killed_two_hundred_times() {
    killed(220, 11);
}

/// Two shippers of two hosts that spool the same windows (a copied folder), at once.
#[test]
fn two_deliver_the_same_windows_at_once() {
    let world = World::new(Fleet::default());
    let store = world.path("store");
    let spools = [world.spool("one"), world.spool("two")];
    let children: Vec<_> = spools
        .iter()
        .map(|spool| ship(spool, &store, 3, MANY).spawn().unwrap())
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(answers(&store, None), world.answers);
}

/// A clock that is years off, back and forth: counts are right, on the days on which they came, and what the clock said is kept.
#[test]
fn windows_of_wrong_clocks_count() {
    let world = World::new(Fleet::default());
    let spool = world.spool("spool");
    for (number, file) in fs::read_dir(&spool).unwrap().flatten().enumerate() {
        let mut profile = trodden_profile::Profile::load(file.path()).unwrap();
        let at = [0u64, 4_102_444_800_000, 1_790_812_800_000][number % 3];
        let facts: trodden_profile::facts::Facts = [("window_started_ms", at), ("window_ended_ms", at)]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_string()))
            .collect();
        profile.run.facts.append(facts);
        profile.save(file.path()).unwrap();
    }
    let store = world.path("store");
    succeeds(&mut ship(&spool, &store, 7, MANY));
    let answers = answers(&store, None);
    // All but the question by day.
    assert_eq!(answers[1], world.answers[1]);
    assert_eq!(answers[3], world.answers[3]);
    assert!(
        !answers[2].contains("1970-") && !answers[2].contains("2100-"),
        "{}",
        answers[2]
    );
    let sql = "SELECT DISTINCT claimed FROM windows WHERE claimed IS NOT NULL ORDER BY claimed";
    let claimed = succeeds(Command::new(PROGRAM).args(["query", &store, "--format", "csv", "--sql", sql]));
    assert_eq!(
        claimed,
        "claimed\r\n1970-01-01T00:00:00.000Z\r\n2100-01-01T00:00:00.000Z\r\n"
    );
}

/// A store on a device without room: nothing is lost, and nothing is there by half.
#[test]
fn without_room_windows_stay_and_arrive_later() {
    let world = World::new(Fleet::default());
    let spool = world.spool("spool");
    let device = world.folder.path().join("device");
    fs::create_dir(&device).unwrap();
    let mount = |size: &str, how: &[&str]| {
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", size])
            .args(how)
            .arg("tmpfs")
            .arg(&device);
        mount
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if !mount("size=64k", &[]) {
        println!("skipped: no file system can be mounted here");
        return;
    }
    let _mounted = Mounted(&device);
    let store = device.join("store").display().to_string();
    let output = ship(&spool, &store, 50, 2).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the windows stay in the spool folder"), "{said}");
    assert_eq!(left(&spool), world.windows);
    assert!(mount("remount,size=64m", &[]));
    succeeds(&mut ship(&spool, &store, 50, MANY));
    assert_eq!(left(&spool), 0);
    assert_eq!(answers(&store, None), world.answers);
}

struct Mounted<'p>(&'p Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}
