//! The files of `./dist`: the same bytes twice, everything that a package should hold, and a program that
//! works where nothing else is.

mod editors;
mod other_machines;
mod packages;
mod release_kit;
mod store;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, process};

const LIMIT: Duration = Duration::from_secs(600);
const PROGRAM: &str = "public class Odd {
    public static void main(String[] args) {
        int odd = 0;
        for (int i = 0; i < 1000; i++) {
            if (i % 3 == 1) {
                odd++;
            }
        }
        System.out.println(odd);
    }
}
";

fn have(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// The files that it makes without the store, by their names within the folder.
fn dist(out: &Path, more: &[&str]) -> Result<BTreeMap<String, Vec<u8>>> {
    let folder = artefacts::artefacts()?.cli.parent().ok_or("no folder")?;
    dist_of(folder, out, &[&["--no-store"], more].concat())
}

/// The same of these artefacts.
fn dist_of(artefacts: &Path, out: &Path, more: &[&str]) -> Result<BTreeMap<String, Vec<u8>>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new("bash");
    command
        .arg(root.join("dist"))
        .args(["--no-sbom", "--keep-paths", "--no-vscode"])
        .args(more)
        .arg("--artefacts");
    process::run(command.arg(artefacts).arg(out), LIMIT)?.success()?;
    let mut files = BTreeMap::new();
    collect(out, "", &mut files)?;
    Ok(files)
}

/// The packages without the Maven repository, made once for all tests that want it.
fn packages() -> Result<&'static Path> {
    static MADE: OnceLock<std::result::Result<PathBuf, String>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
        if out.exists() {
            fs::remove_dir_all(&out).map_err(|e| e.to_string())?;
        }
        fs::create_dir_all(&out).map_err(|e| e.to_string())?;
        pack(&out).map_err(|e| e.to_string())?;
        Ok(out)
    });
    made.as_deref().map_err(|e| e.clone().into())
}

/// From artefacts as a CI service's store gives them back: nothing may be executed.
fn pack(out: &Path) -> Result<()> {
    let kept = tempfile::tempdir()?;
    let built = artefacts::artefacts()?;
    for file in [&built.cli, &built.agent] {
        let copy = kept.path().join(file.file_name().ok_or("no name")?);
        fs::copy(file, &copy)?;
        fs::set_permissions(copy, fs::Permissions::from_mode(0o644))?;
    }
    dist_of(kept.path(), out, &["--no-store", "--no-maven"])?;
    Ok(())
}

/// The file of a folder whose name ends so.
fn named(folder: &Path, ending: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ending) {
            return Ok(path);
        }
    }
    Err(format!("no {ending} in {}", folder.display()).into())
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn file<'f>(files: &'f BTreeMap<String, Vec<u8>>, ending: &str) -> Result<&'f str> {
    let found = files.keys().find(|name| name.ends_with(ending));
    Ok(found.ok_or(format!("no {ending} in {:?}", files.keys()))?)
}

fn run(command: &mut Command) -> Result<String> {
    Ok(process::run(command, LIMIT)?.success()?.stdout)
}

fn unpack(archive: &Path, into: &Path) -> Result<PathBuf> {
    fs::create_dir_all(into)?;
    run(Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(into))?;
    let mut folders = fs::read_dir(into)?;
    Ok(folders.next().ok_or("an empty archive")??.path())
}

/// These artefacts were not built for others: they name the folders of this machine.
#[test]
fn paths_of_this_machine_are_not_packed() -> Result<()> {
    let artefacts = artefacts::artefacts()?.cli.parent().ok_or("no folder")?;
    let out = tempfile::tempdir()?;
    let mut dist = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist"));
    dist.args(["--no-sbom", "--no-store", "--no-maven", "--artefacts"]);
    let refused = process::run(dist.arg(artefacts).arg(out.path()), LIMIT)?;
    assert!(!refused.status.success());
    for text in [
        "dist: packing",
        "names a folder of the machine that it was built on: /",
        "--keep-paths",
    ] {
        assert!(refused.stderr.contains(text), "{text}: {}", refused.stderr);
    }
    assert_eq!(fs::read_dir(out.path())?.count(), 0);

    // Texts of the program name none either, not even as an example.
    let manual = out.path().join("manual");
    fs::create_dir(&manual)?;
    run(Command::new(&artefacts::artefacts()?.cli).arg("man").arg(&manual))?;
    let mut pages = BTreeMap::new();
    collect(&manual, "", &mut pages)?;
    assert!(pages.len() > 10, "{:?}", pages.keys());
    for (name, page) in pages {
        assert!(!String::from_utf8(page)?.contains("/home/"), "{name}");
    }
    Ok(())
}

/// Programs that need a newer C library than was asked for are not packed.
#[test]
fn a_newer_c_library_than_asked_for_is_refused() -> Result<()> {
    let artefacts = artefacts::artefacts()?.cli.parent().ok_or("no folder")?;
    let out = tempfile::tempdir()?;
    let mut dist = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist"));
    dist.args([
        "--no-sbom",
        "--no-store",
        "--no-maven",
        "--no-vscode",
        "--keep-paths",
    ]);
    dist.args(["--glibc", "2.3", "--artefacts"]);
    let refused = process::run(dist.arg(artefacts).arg(out.path()), LIMIT)?;
    assert!(!refused.status.success());
    assert!(
        refused.stderr.contains("newer than --glibc asks"),
        "{}",
        refused.stderr
    );
    assert_eq!(fs::read_dir(out.path())?.count(), 0);
    Ok(())
}

/// Packages for old systems, linked with zig's description of their C library.
#[test]
#[ignore = "builds all of it, with cargo-zigbuild and zig: docs/install.md"]
fn packages_for_an_old_c_library_need_no_newer_one() -> Result<()> {
    if !have("cargo-zigbuild") {
        println!("skipped: no cargo-zigbuild");
        return Ok(());
    }
    let temporary = tempfile::tempdir()?;
    let out = temporary.path().join("out");
    let mut dist = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist"));
    dist.args(["--no-sbom", "--no-store", "--no-maven", "--no-vscode"]);
    let built = process::run(dist.args(["--glibc", "2.28"]).arg(&out), 6 * LIMIT)?.success()?;
    let architecture = std::env::consts::ARCH;
    for archive in ["", "-single"] {
        let archive = named(&out, &format!("linux-{architecture}{archive}.tar.gz"))?;
        let name = archive.file_name().ok_or("no name")?;
        let root = unpack(&archive, &temporary.path().join(name))?;
        let programs = ["bin/trodden", "lib/libtrodden.so", "trodden"].map(|file| root.join(file));
        let mut there = 0;
        for program in programs.iter().filter(|file| file.is_file()) {
            needs_no_newer(program, "2.28")?;
            there += 1;
        }
        assert!(there > 0, "{}: {}", archive.display(), built.stderr);
    }
    Ok(())
}

/// Programs run with the C library that the page of the book names, or an older one.
#[test]
fn the_c_library_that_is_needed_is_the_one_of_the_book() -> Result<()> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/install.md"))?;
    let named = page
        .split("with glibc ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .ok_or("no version of glibc in docs/install.md")?;
    let found = artefacts::artefacts()?;
    for file in [&found.cli, &found.agent] {
        needs_no_newer(file, named)?;
    }
    Ok(())
}

/// No symbol that a program takes from the C library is newer than that version.
fn needs_no_newer(program: &Path, newest: &str) -> Result<()> {
    let version = |text: &str| -> Result<Vec<u32>> {
        let parts = text.split('.').map(str::parse);
        Ok(parts.collect::<std::result::Result<_, _>>()?)
    };
    let symbols = run(Command::new("objdump").arg("-T").arg(program))?;
    let mut needed = 0;
    for (symbol, rest) in symbols
        .lines()
        .filter_map(|line| Some((line, line.split("GLIBC_").nth(1)?)))
    {
        let end = rest
            .find(|c: char| c != '.' && !c.is_ascii_digit())
            .unwrap_or(rest.len());
        assert!(
            version(&rest[..end])? <= version(newest)?,
            "{}: {symbol}",
            program.display()
        );
        needed += 1;
    }
    assert!(needed > 50, "{symbols}");
    Ok(())
}

/// The settings of an owner with an address.
const OWNER: &str = r#"maintainer="Jo Owner <jo@example.org>"
homepage="https://example.org/trodden"
scm="https://example.org/trodden.git"
developer_id="jo"
developer_name="Jo Owner & Sons"
group_id="org.example.trodden"
plugin_id="org.example.paths"
"#;

#[test]
#[cfg_attr(feature = "change", ignore = "all: the Debian package stays")]
fn the_archive_holds_a_program_that_works_alone() -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let (one, other) = (temporary.path().join("one"), temporary.path().join("other"));
    let owner = temporary.path().join("owner");
    fs::write(&owner, OWNER)?;
    let project = ["--project", owner.to_str().ok_or("a name that is no text")?];
    let files = dist(&one, &project)?;
    let again = dist(&other, &project)?;
    assert_eq!(files.keys().collect::<Vec<_>>(), again.keys().collect::<Vec<_>>());
    for (name, bytes) in &files {
        assert!(*bytes == again[name], "{name} is not the same twice");
    }
    run(Command::new("sha256sum")
        .args(["--check", "SHA256SUMS"])
        .current_dir(&one))?;

    if have("mvn") {
        check_repository(&one, &files)?;
    }

    let architecture = std::env::consts::ARCH;
    let archive = file(&files, &format!("linux-{architecture}.tar.gz"))?;
    let root = unpack(&one.join(archive), &temporary.path().join("unpacked"))?;
    let doc = root.join("share/doc/trodden");
    for wanted in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        assert!(doc.join(wanted).is_file(), "{wanted}");
    }
    let licences = fs::read_to_string(doc.join("THIRD-PARTY"))?;
    assert!(licences.contains("\nclap v") && licences.contains("Permission is hereby granted"));
    check_manual(&root)?;
    check_completions(&root)?;

    // Nothing but a JDK, no home, and nothing that can be written but the folder of the program.
    let jdk = &Jdk::oldest()?;
    fs::write(temporary.path().join("Odd.java"), PROGRAM)?;
    run(jdk
        .command("javac")
        .args(["-g", "Odd.java"])
        .current_dir(temporary.path()))?;
    let mut command = Command::new(root.join("bin/trodden"));
    command
        .env_clear()
        .env("HOME", "/nonexistent")
        .current_dir(temporary.path())
        .args(["run", "-o", "page.html"])
        .arg(jdk.command("java").get_program())
        .args(["-Xverify:all", "-Xcheck:jni", "Odd"]);
    let outcome = process::run(&mut command, LIMIT)?.success()?;
    assert_eq!(outcome.stdout, "333\n");
    assert!(outcome.stderr.contains("i % 3 == 1 → yes"), "{}", outcome.stderr);
    assert!(fs::read_to_string(temporary.path().join("page.html"))?.contains("Odd.main"));

    // The debug information is that of the program: the link between them says so.
    let debug = unpack(
        &one.join(file(&files, "-debug.tar.gz")?),
        &temporary.path().join("debug"),
    )?;
    for (program, of) in [
        ("bin/trodden", "trodden.debug"),
        ("lib/libtrodden.so", "libtrodden.so.debug"),
    ] {
        let linked = fs::read(root.join(program))?;
        let sum = crc32(&fs::read(debug.join(of))?).to_le_bytes();
        assert!(linked.windows(4).any(|window| window == sum), "{of}");
    }
    Ok(())
}

/// The Maven repository: complete by the rules of Maven Central, and in the owner's names.
fn check_repository(out: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let group = "maven-repository/org/example/trodden";
    let jdk = &Jdk::oldest()?;
    let read = |name: &str| -> Result<String> {
        let bytes = files
            .get(name)
            .ok_or(format!("no {name} in {:?}", files.keys()))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    };
    let platform = format!("-linux-{}", std::env::consts::ARCH);
    let mut poms = vec![(
        format!("maven-repository/org/example/paths/org.example.paths.gradle.plugin/{version}"),
        format!("org.example.paths.gradle.plugin-{version}"),
    )];
    for (artifact, natives) in [
        ("natives", &*platform),
        ("runtime", ""),
        ("maven-plugin", ""),
        ("gradle-plugin", ""),
        ("jmh", ""),
        ("junit", ""),
        ("otel", ""),
        ("launcher", ""),
    ] {
        let folder = format!("{group}/trodden-{artifact}/{version}");
        let name = format!("trodden-{artifact}-{version}");
        for classifier in ["", "-sources", "-javadoc", natives] {
            let jar = format!("{folder}/{name}{classifier}.jar");
            assert!(files.contains_key(&jar), "{jar}");
            let listed = run(jdk.command("jar").arg("tf").arg(out.join(&jar)))?;
            assert!(
                listed.contains("LICENSE-MIT") || classifier == "-javadoc",
                "{jar}: {listed}"
            );
        }
        let metadata = read(&format!("{group}/trodden-{artifact}/maven-metadata.xml"))?;
        assert!(
            metadata.contains(&format!("<release>{version}</release>")),
            "{metadata}"
        );
        poms.push((folder, name));
    }
    for (folder, name) in poms {
        let pom = read(&format!("{folder}/{name}.pom"))?;
        for wanted in [
            "<name>Trodden ",
            "<description>",
            "<url>https://example.org/trodden</url>",
            "<license><name>Apache-2.0</name>",
            "<license><name>MIT</name>",
            "<developer><id>jo</id><name>Jo Owner &amp; Sons</name></developer>",
            "<connection>scm:git:https://example.org/trodden.git</connection>",
        ] {
            assert!(pom.contains(wanted), "{name}: {wanted} is not in {pom}");
        }
        assert!(!pom.contains("SNAPSHOT") && !pom.contains("invalid"), "{pom}");
    }
    assert!(read(&format!("{group}/maven-metadata.xml"))?.contains("<prefix>trodden</prefix>"));
    for (name, _) in files
        .iter()
        .filter(|(name, _)| name.starts_with("maven-repository"))
    {
        let hashed = Path::new(name)
            .extension()
            .is_some_and(|e| e == "jar" || e == "pom" || e == "xml");
        for sum in ["md5", "sha1", "sha256", "sha512"].iter().filter(|_| hashed) {
            let told = run(Command::new(format!("{sum}sum")).arg(out.join(name)))?;
            let written = read(&format!("{name}.{sum}"))?;
            assert_eq!(told.split(' ').next(), Some(&*written), "{name}.{sum}");
        }
    }
    // Inside: the descriptor by the owner's id, and sums that are those of the files.
    let into = out.with_file_name("jars");
    fs::create_dir(&into)?;
    for jar in ["gradle-plugin", "maven-plugin", "natives"] {
        let classifier = if jar == "natives" { &*platform } else { "" };
        let file = out.join(format!(
            "{group}/trodden-{jar}/{version}/trodden-{jar}-{version}{classifier}.jar"
        ));
        run(jdk.command("jar").arg("xf").arg(file).current_dir(&into))?;
    }
    let descriptors = into.join("META-INF/gradle-plugins");
    assert_eq!(fs::read_dir(&descriptors)?.count(), 1);
    assert_eq!(
        fs::read_to_string(descriptors.join("org.example.paths.properties"))?,
        "implementation-class=trodden.gradle.TroddenPlugin\n"
    );
    let goals = fs::read_to_string(into.join("META-INF/maven/plugin.xml"))?;
    assert!(
        goals.contains("<groupId>org.example.trodden</groupId>"),
        "{goals}"
    );
    let folder = into.join("META-INF/trodden").join(&platform[1..]);
    run(Command::new("sha256sum")
        .args(["--check", "SHA256SUMS"])
        .current_dir(&folder))?;
    assert!(into.join("META-INF/trodden/THIRD-PARTY").is_file());
    Ok(())
}

/// CRC-32 as debug links have it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut table = [0u32; 256];
    for (byte, entry) in (0u32..).zip(table.iter_mut()) {
        *entry = (0..8).fold(byte, |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        });
    }
    let step = |crc: u32, &byte: &u8| (crc >> 8) ^ table[((crc ^ u32::from(byte)) & 0xff) as usize];
    !bytes.iter().fold(!0, step)
}

fn check_manual(root: &Path) -> Result<()> {
    let pages = root.join("share/man/man1");
    let mut names: Vec<String> = Vec::new();
    for page in fs::read_dir(&pages)? {
        let page = page?;
        names.push(page.file_name().to_string_lossy().into_owned());
        if have("groff") {
            let mut groff = Command::new("groff");
            groff
                .args(["-Kutf8", "-man", "-Tutf8", "-ww", "-z"])
                .arg(page.path());
            let outcome = process::run(&mut groff, LIMIT)?.success()?;
            assert_eq!(outcome.stderr, "", "{:?}", page.path());
        }
    }
    for wanted in [
        "trodden.1",
        "trodden-run.1",
        "trodden-attach.1",
        "trodden-report.1",
    ] {
        assert!(
            names.iter().any(|name| name == wanted),
            "{wanted} is not among {names:?}"
        );
    }
    let page = fs::read_to_string(pages.join("trodden-run.1"))?;
    assert!(
        page.contains("schedule"),
        "options for research are in the manual"
    );
    Ok(())
}

fn check_completions(root: &Path) -> Result<()> {
    for (shell, flag, file) in [
        ("bash", "-n", "share/bash-completion/completions/trodden"),
        ("zsh", "-n", "share/zsh/site-functions/_trodden"),
        (
            "fish",
            "--no-execute",
            "share/fish/vendor_completions.d/trodden.fish",
        ),
    ] {
        let file = root.join(file);
        assert!(fs::read_to_string(&file)?.contains("instrument"), "{file:?}");
        if have(shell) {
            drop(run(Command::new(shell).arg(flag).arg(&file))?)
        } else {
            eprintln!("{shell} is not there: its completions were not parsed")
        }
    }
    Ok(())
}

#[test]
fn the_debian_package_has_what_the_archive_has() -> Result<()> {
    if !have("dpkg-deb") {
        eprintln!("dpkg-deb is not there: no Debian package was looked at");
        return Ok(());
    }
    let temporary = tempfile::tempdir()?;
    let out = packages()?;
    let package = named(out, ".deb")?;
    let field = |name: &str| run(Command::new("dpkg-deb").arg("-f").arg(&package).arg(name));
    assert_eq!(field("Package")?, "trodden\n");
    assert_eq!(field("Version")?.trim(), env!("CARGO_PKG_VERSION"));
    assert!(
        field("Depends")?.starts_with("libc6 (>= 2."),
        "{}",
        field("Depends")?
    );
    let into = temporary.path().join("root");
    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&into))?;
    let archive = named(out, &format!("linux-{}.tar.gz", std::env::consts::ARCH))?;
    let unpacked = unpack(&archive, &temporary.path().join("unpacked"))?;
    for same in [
        "bin/trodden",
        "lib/libtrodden.so",
        "share/zsh/site-functions/_trodden",
    ] {
        let ours = fs::read(into.join("usr").join(same))?;
        assert!(ours == fs::read(unpacked.join(same))?, "{same}");
    }
    assert!(into.join("usr/share/doc/trodden/copyright").is_file());
    // The program finds the agent in this layout, too.
    let mut doctor = Command::new(into.join("usr/bin/trodden"));
    let told = process::run(doctor.arg("doctor"), LIMIT)?;
    let agent = into.join("usr/lib/libtrodden.so").canonicalize()?;
    let told = format!("{}{}", told.stdout, told.stderr);
    assert!(told.contains(&*agent.to_string_lossy()), "{told}");
    Ok(())
}
