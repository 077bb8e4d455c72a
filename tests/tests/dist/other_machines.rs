//! Packages for another machine, and what is in them, run by an emulator.

use std::fs;
use std::path::Path;
use std::process::Command;

use trodden_profile::Profile;
use trodden_tests::Result;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::SUSPICIOUS;

use super::{PROGRAM, collect, dist, named, run, unpack};

/// The description of the machine (docs/testing.md).
struct Machine {
    /// A folder with `trodden` and `libtrodden.so` for it.
    built: String,
    /// The emulator with its options.
    emulator: Vec<String>,
    /// Its JVM, `bin/java`.
    java: String,
}

impl Machine {
    fn told() -> Result<Self> {
        let variable = |name: &str| {
            let name = format!("TRODDEN_TEST_AARCH64{name}");
            std::env::var(&name).map_err(|_| format!("{name} is not set"))
        };
        let emulator = variable("_EMULATOR")?;
        Ok(Self {
            built: variable("")?,
            emulator: emulator.split_whitespace().map(str::to_owned).collect(),
            java: variable("_JAVA")?,
        })
    }

    /// One of its programs, emulated.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(&self.emulator[0]);
        command.args(&self.emulator[1..]).arg(program);
        command
    }
}

/// The number of the machine in an ELF file's header: 183 is AArch64.
fn elf_machine(file: &[u8]) -> u16 {
    assert_eq!(&file[..4], b"\x7fELF");
    u16::from_le_bytes([file[18], file[19]])
}

/// Paths and their counts, method by method.
fn counts(profile: &Profile) -> String {
    let of = |class: &trodden_profile::ClassProfile| format!("{} {:?}", class.map.name, class.counts);
    profile.classes.iter().map(of).collect()
}

#[test]
#[ignore = "wants a build for aarch64, an emulator and its JVM: docs/testing.md"]
fn packages_for_aarch64_work_in_an_emulator() -> Result<()> {
    let machine = Machine::told()?;
    let temporary = tempfile::tempdir()?;
    let out = temporary.path().join("out");
    let target = format!("aarch64-unknown-linux-gnu={}", machine.built);
    let files = dist(&out, &["--target", &target])?;

    let deb = named(&out, "_arm64.deb")?;
    let control = run(Command::new("dpkg-deb").arg("-f").arg(&deb))?;
    assert!(control.contains("Architecture: arm64\n"), "{control}");
    run(Command::new("dpkg-deb")
        .arg("-x")
        .arg(&deb)
        .arg(temporary.path().join("deb")))?;
    let mut installed = Default::default();
    collect(&temporary.path().join("deb"), "", &mut installed)?;
    let natives = files.keys().find(|name| name.ends_with("-linux-aarch64.jar"));
    let jdk = &Jdk::oldest()?;
    let jar = temporary.path().join("jar");
    fs::create_dir(&jar)?;
    run(jdk
        .command("jar")
        .arg("xf")
        .arg(out.join(natives.ok_or("no jar of natives")?))
        .current_dir(&jar))?;
    let mut inner = Default::default();
    collect(&jar, "", &mut inner)?;
    let root = unpack(
        &named(&out, "-linux-aarch64.tar.gz")?,
        &temporary.path().join("archive"),
    )?;
    for (name, bytes) in installed.iter().chain(&inner) {
        let of_ours = name.ends_with("libtrodden.so") || name.ends_with("bin/trodden");
        if of_ours {
            assert_eq!(elf_machine(bytes), 183, "{name}");
        }
    }
    for file in ["bin/trodden", "lib/libtrodden.so"] {
        assert_eq!(elf_machine(&fs::read(root.join(file))?), 183, "{file}");
        assert!(installed.contains_key(&format!("usr/{file}")), "{installed:?}");
    }

    fs::write(temporary.path().join("Odd.java"), PROGRAM)?;
    run(jdk
        .command("javac")
        .args(["-g", "Odd.java"])
        .current_dir(temporary.path()))?;
    let ours = trodden_tests::artefacts::artefacts()?.agent.clone();
    for probe in ["counters", "auto", "safepoint", "events"] {
        let profile = |mut java: Command, agent: &Path, name: &str| -> Result<Profile> {
            let file = temporary.path().join(format!("{name}.trodden"));
            java.args(SUSPICIOUS)
                .arg(format!(
                    "-agentpath:{}=start,probe={probe},include=Odd,file={}",
                    agent.display(),
                    file.display()
                ))
                .arg("-cp")
                .arg(temporary.path())
                .arg("Odd");
            assert_eq!(run(&mut java)?, "333\n", "{probe}");
            Ok(Profile::load(&file)?)
        };
        let there = profile(
            machine.command(&machine.java),
            &root.join("lib/libtrodden.so"),
            "there",
        )?;
        assert!(
            there
                .run
                .facts
                .get(trodden_profile::facts::PANICS)
                .is_none_or(|n| n == 0)
        );
        if probe != "safepoint" {
            let here = profile(jdk.command("java"), &ours, "here")?;
            assert_eq!(counts(&there), counts(&here), "{probe}");
        }
    }
    let mut trodden = machine.command(root.join("bin/trodden"));
    let report = run(trodden.arg("report").arg(temporary.path().join("there.trodden")))?;
    assert!(report.contains("Odd.main"), "{report}");
    Ok(())
}
