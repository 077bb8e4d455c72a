//! The packages as users have them: installed, upgraded and removed by `dpkg`, as a user without rights, with
//! a home that cannot be written to, and on file systems that nothing may be started from. Not everywhere can
//! all of that be made: what could not be tested is said.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, process};

use super::{LIMIT, PROGRAM, dist_of, have, named, packages, run, unpack};

/// Private mounts, for root or a user that may be it in a name space.
fn mounts() -> Option<Command> {
    let mut words = vec!["unshare", "--mount"];
    if !is_root() {
        words.insert(1, "--map-root-user");
    }
    let make = || {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        command
    };
    let tried = make().args(["mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if tried.is_ok_and(|output| output.status.success()) {
        Some(make())
    } else {
        eprintln!("not tested: no mounts can be made here ({})", words.join(" "));
        None
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|data| data.uid() == 0)
}

/// A program of a user without rights: as we are, or `nobody` for root.
fn without_rights(program: impl AsRef<Path>) -> Command {
    if !is_root() {
        return Command::new(program.as_ref());
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg(program.as_ref());
    command
}

/// A folder that every user may read, with the archive unpacked and a compiled program.
struct Room {
    folder: TempDir,
    root: PathBuf,
    java: PathBuf,
}

impl Room {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
        let archive = named(packages()?, &format!("linux-{}.tar.gz", std::env::consts::ARCH))?;
        let root = unpack(&archive, &folder.path().join("unpacked"))?;
        fs::write(folder.path().join("Odd.java"), PROGRAM)?;
        let jdk = &Jdk::oldest()?;
        let mut javac = jdk.command("javac");
        run(javac.args(["-g", "Odd.java"]).current_dir(folder.path()))?;
        Ok(Room {
            root,
            java: jdk.home.join("bin/java"),
            folder,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets it count the paths of the program.
    fn profiles(&self, command: &mut Command) -> Result<process::Outcome> {
        command
            .args(["run", "--probe", "counters", "-o"])
            .arg(self.path("out/page.html"))
            .arg(&self.java)
            .args(["-cp".as_ref(), self.folder.path().as_os_str(), "Odd".as_ref()]);
        process::run(command, LIMIT)
    }

    /// A folder that the user without rights owns.
    fn own(&self, name: &str, mode: u32) -> Result<PathBuf> {
        let folder = self.path(name);
        fs::create_dir(&folder)?;
        if is_root() {
            std::os::unix::fs::chown(&folder, Some(65534), Some(65534))?;
        }
        fs::set_permissions(&folder, Permissions::from_mode(mode))?;
        Ok(folder)
    }
}

#[test]
fn a_user_without_rights_and_a_home_that_is_read_only() -> Result<()> {
    let room = Room::new()?;
    room.own("out", 0o755)?;
    let home = room.own("home", 0o555)?;
    let mut command = without_rights(room.root.join("bin/trodden"));
    let outcome = room
        .profiles(command.env("HOME", &home).env_remove("XDG_CACHE_HOME"))?
        .success()?;
    assert_eq!(outcome.stdout, "333\n");
    assert!(outcome.stderr.contains("i % 3 == 1 → yes"), "{outcome:?}");
    assert!(room.path("out/page.html").is_file());
    assert_eq!(fs::read_dir(&home)?.count(), 0);
    let mut doctor = without_rights(room.root.join("bin/trodden"));
    doctor
        .arg("doctor")
        .env("HOME", &home)
        .env("JAVA_HOME", room.java.ancestors().nth(2).ok_or("no home")?);
    let told = process::run(&mut doctor, LIMIT)?.success()?;
    assert!(told.stdout.contains("a JVM loads it"), "{told:?}");
    Ok(())
}

/// Runs the rest of the words where `$1` is on a file system from which nothing may be loaded, but holds the
/// same.
const NOEXEC: &str = r#"
set -e
folder=$1
shift
cp -r "$folder" "$folder.kept"
mount -t tmpfs -o noexec,mode=1777 none "$folder"
cp -r "$folder.kept/." "$folder/"
exec "$@"
"#;

#[test]
fn file_systems_that_nothing_may_be_started_from() -> Result<()> {
    let room = Room::new()?;
    room.own("out", 0o755)?;
    let program = room.root.join("bin/trodden");
    let on_noexec = |folder: &Path| -> Option<Command> {
        let mut command = mounts()?;
        command.args(["sh", "-c", NOEXEC, "sh"]).arg(folder).arg(&program);
        Some(command)
    };
    // The archive's own library: it is said why it does not work, and what to do, before the program starts.
    let library = room.root.join("lib");
    let Some(mut command) = on_noexec(&library) else {
        return Ok(());
    };
    let refused = room.profiles(&mut command)?;
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert_eq!(refused.stdout, "", "the program has been started");
    for told in [
        &*library.join("libtrodden.so").to_string_lossy(),
        "noexec",
        "set TRODDEN_AGENT to its path",
    ] {
        assert!(refused.stderr.contains(told), "{told}: {refused:?}");
    }
    fs::remove_dir_all(room.root.join("lib.kept"))?;

    // So does one that was named.
    let given = room.path("given");
    fs::create_dir(&given)?;
    fs::copy(library.join("libtrodden.so"), given.join("libtrodden.so"))?;
    if let Some(mut command) = on_noexec(&given) {
        let refused = room.profiles(command.env("TRODDEN_AGENT", given.join("libtrodden.so")))?;
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(
            refused.stderr.contains("TRODDEN_AGENT: no JVM can load"),
            "{refused:?}"
        );
    }
    // A temporary folder of that kind does no harm: nothing is loaded from there.
    let temporary = room.path("temporary");
    fs::create_dir(&temporary)?;
    if let Some(mut command) = on_noexec(&temporary) {
        let outcome = room.profiles(command.env("TMPDIR", &temporary))?.success()?;
        assert_eq!(outcome.stdout, "333\n");
        assert!(outcome.stderr.contains("i % 3 == 1 → yes"), "{outcome:?}");
    }
    Ok(())
}

/// A system like this one, whose files may change without harm: `$1` becomes its root. Then the life of a
/// package in it: older, newer, gone. `$2` and `$3` are the packages, `$4` is Java, `$5` the classes' folder.
const LIFE: &str = r#"
set -e
room=$1 old=$2 new=$3 java=$4 classes=$5
mount -t tmpfs none "$room"
mkdir "$room/upper" "$room/work" "$room/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$room/upper,workdir=$room/work" "$room/root" || exit 77
root=$room/root
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mkdir -p "$root/tmp/packages"
cp "$old" "$root/tmp/packages/old.deb"
cp "$new" "$root/tmp/packages/new.deb"
cp "$classes/Odd.class" "$root/tmp/packages/"
inside() { chroot "$root" /usr/bin/env -u TRODDEN_AGENT HOME=/nonexistent PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
profiles() {
    inside /usr/bin/trodden run -o /tmp/packages/odd.trodden "$java" -cp /tmp/packages Odd
    inside /usr/bin/trodden report /tmp/packages/odd.trodden --all >"$root/tmp/all"
    grep -q 'i % 3 == 1 → yes' "$root/tmp/all" || { cat "$root/tmp/all"; exit 1; }
}

inside dpkg --install /tmp/packages/old.deb
profiles
test -f "$root/usr/share/doc/trodden/ONLY-OLD"
inside dpkg --install /tmp/packages/new.deb
inside dpkg-query --show --showformat='${Version} ${Status}\n' trodden
profiles
inside dpkg --verify trodden
test ! -e "$root/usr/share/doc/trodden/ONLY-OLD"
inside dpkg --listfiles trodden >"$room/files"
inside dpkg --purge trodden
while read -r file; do
    test -d "/$file" || test ! -e "$root$file" || { echo "left: $file"; exit 1; }
done <"$room/files"
test ! -e "$root/usr/share/doc/trodden"
! inside dpkg-query --show trodden 2>/dev/null
echo gone
"#;

#[test]
fn the_debian_package_comes_is_upgraded_and_goes() -> Result<()> {
    if !have("dpkg-deb") || !have("dpkg") {
        eprintln!("not tested: dpkg is not there");
        return Ok(());
    }
    if !is_root() {
        eprintln!("not tested: dpkg in a chroot wants root");
        return Ok(());
    }
    let Some(mut command) = mounts() else {
        return Ok(());
    };
    let room = Room::new()?;
    let new = named(packages()?, ".deb")?;
    // An older version: another number, and a file that the newer one does not have.
    let parts = room.path("parts");
    run(Command::new("dpkg-deb")
        .arg("--raw-extract")
        .arg(&new)
        .arg(&parts))?;
    let control = parts.join("DEBIAN/control");
    let version = format!("\nVersion: {}\n", env!("CARGO_PKG_VERSION"));
    let text = fs::read_to_string(&control)?;
    assert!(text.contains(&version), "{text}");
    fs::write(&control, text.replace(&version, "\nVersion: 0.0.1~old\n"))?;
    fs::write(parts.join("usr/share/doc/trodden/ONLY-OLD"), "")?;
    let old = room.path("old.deb");
    run(Command::new("dpkg-deb")
        .args(["-Znone", "--build"])
        .arg(&parts)
        .arg(&old))?;
    let system = room.path("system");
    fs::create_dir(&system)?;
    command.args(["sh", "-c", LIFE, "sh"]);
    command
        .arg(&system)
        .args([&old, &new, &room.java])
        .arg(room.folder.path());
    let outcome = process::run(&mut command, LIMIT)?;
    if outcome.status.code() == Some(77) {
        eprintln!(
            "not tested: no overlay file system can be mounted here: {}",
            outcome.stderr
        );
        return Ok(());
    }
    let outcome = outcome.success()?;
    let installed = format!("{} install ok installed\n", env!("CARGO_PKG_VERSION"));
    assert!(outcome.stdout.contains(&installed), "{outcome:?}");
    assert!(outcome.stdout.ends_with("gone\n"), "{outcome:?}");
    // Nothing of it has happened to this system.
    Ok(())
}

/// From an empty folder, on a machine that does other work too.
const A_BUILD: Duration = Duration::from_secs(3_600);

/// Where `cargo binstall` looks for the program that has the agent inside, `./dist` has put it.
fn binstall_takes_it(room: &Room, program: &Path) -> Result<()> {
    let (artefacts, out) = (room.path("artefacts"), room.path("dist"));
    fs::create_dir(&artefacts)?;
    let built = artefacts::artefacts()?;
    for (from, name) in [
        (built.cli.as_path(), "trodden"),
        (&built.agent, "libtrodden.so"),
        (program, "trodden-single"),
    ] {
        fs::copy(from, artefacts.join(name))?;
    }
    dist_of(&artefacts, &out, &["--no-store", "--no-maven"])?;
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/Cargo.toml"))?;
    let filled = |key: &str| -> Result<String> {
        let mut lines = manifest
            .lines()
            .filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        let text = lines
            .next()
            .ok_or_else(|| format!("no {key} in cli/Cargo.toml"))?;
        let text = text
            .replace("{ version }", env!("CARGO_PKG_VERSION"))
            .replace("{ target-arch }", std::env::consts::ARCH)
            .replace("{ bin }", "trodden");
        Ok(text.trim_matches('"').to_owned())
    };
    let url = filled("pkg-url")?;
    let archive = out.join(url.rsplit('/').next().unwrap_or_default());
    let into = room.path("fetched");
    unpack(&archive, &into)?;
    let cache = room.path("cache of the fetched");
    fs::create_dir(&cache)?;
    let mut fetched = Command::new(into.join(filled("bin-dir")?));
    let outcome = room.profiles(fetched.env("XDG_CACHE_HOME", &cache))?.success()?;
    assert!(outcome.stderr.contains("i % 3 == 1 → yes"), "{outcome:?}");
    Ok(())
}

/// The program that `cargo install` makes, with the agent inside. It builds everything again, which takes
/// minutes: run by `cargo test --release -p trodden-tests --test dist -- --ignored`.
#[test]
#[ignore = "night: builds the program once more"]
fn cargo_install_brings_the_agent_along() -> Result<()> {
    let room = Room::new()?;
    room.own("out", 0o777)?;
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let bin = room.path("installed");
    let mut install = Command::new("cargo");
    install
        .args([
            "install",
            "--quiet",
            "--locked",
            "--path",
            "cli",
            "--features",
            "embed-agent",
            "--root",
        ])
        .arg(&bin)
        .env("TRODDEN_EMBED_AGENT", &artefacts::artefacts()?.agent)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("install"),
        )
        .current_dir(workspace);
    process::run(&mut install, A_BUILD)?.success()?;
    let program = bin.join("bin/trodden");
    let cache = room.path("cache");
    fs::create_dir(&cache)?;
    let outcome = room
        .profiles(Command::new(&program).env("XDG_CACHE_HOME", &cache))?
        .success()?;
    assert!(outcome.stderr.contains("i % 3 == 1 → yes"), "{outcome:?}");
    let unpacked = cache.join("trodden");
    assert_eq!(fs::metadata(&unpacked)?.mode() & 0o777, 0o700);
    binstall_takes_it(&room, &program)?;

    // Home read-only: the temporary folder serves.
    let temporary = room.own("temporary", 0o700)?;
    let home = room.own("home", 0o555)?;
    let mut command = without_rights(&program);
    let outcome = room
        .profiles(
            command
                .env("HOME", &home)
                .env("TMPDIR", &temporary)
                .env_remove("XDG_CACHE_HOME"),
        )?
        .success()?;
    assert!(outcome.stderr.contains("i % 3 == 1 → yes"), "{outcome:?}");
    assert_eq!(fs::read_dir(&temporary)?.count(), 1);

    // Cache noexec: the temporary folder serves; both: it is said what to do.
    if let Some(mut command) = mounts() {
        command.args(["sh", "-c", NOEXEC, "sh"]).arg(&cache).arg(&program);
        let outcome = room.profiles(command.env("XDG_CACHE_HOME", &cache))?.success()?;
        assert!(outcome.stderr.contains("i % 3 == 1 → yes"), "{outcome:?}");
        let mut command = mounts().ok_or("no mounts")?;
        fs::remove_dir_all(room.path("cache.kept"))?;
        command.args(["sh", "-c", NOEXEC, "sh"]).arg(&cache).arg(&program);
        let refused = room.profiles(command.env("XDG_CACHE_HOME", &cache).env("TMPDIR", &cache))?;
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert_eq!(refused.stdout, "");
        assert!(
            refused.stderr.contains("noexec") && refused.stderr.contains("Set XDG_CACHE_HOME"),
            "{refused:?}"
        );
    }
    Ok(())
}
