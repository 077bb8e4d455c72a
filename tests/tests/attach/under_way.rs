//! A method that is in progress when its probes come stays in its old version, which the JVM has no id for:
//! its time is known all the same.

use std::fs;
use std::process::Command;

use trodden_profile::{MethodMap, Profile};
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::talker::Talker;
use trodden_tests::{Result, artefacts};

use super::attendee::LIMIT;

/// `main` works in lines 7 to 11 until it reads the command to end.
const PROGRAM: &str = "public class UnderWay {
    public static void main(String[] args) throws Exception {
        System.out.println(\"ready\");
        long sum = 1;
        do {
            for (int i = 0; i < 20_000_000; i++) {
                sum = sum * 31 + i;
                if ((sum & 7) == 3) {
                    sum ^= i;
                }
                sum += 3;
            }
        } while (System.in.available() == 0);
        System.out.println(sum != 0);
    }
}
";

fn main_of(profile: &Profile) -> &MethodMap {
    let class = profile.classes.iter().find(|class| class.map.name == "UnderWay");
    let mut methods = class.iter().flat_map(|class| &class.map.methods);
    methods.find(|map| map.name == "main").expect("main")
}

#[test]
fn a_main_that_loops_for_ever_has_its_time_by_line() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let mut program = Talker::start(jdk, "UnderWay", PROGRAM)?;
        let pid = program.pid();
        // The second time, probes have come and gone; the third time no signals are used.
        for (round, options) in ["", "", "sample=safepoint:1ms"].into_iter().enumerate() {
            let what = format!("JDK {}, round {round}", jdk.feature);
            let file = program.file(format!("{round}.trodden"));
            let session = |time: &str| -> Result<(Outcome, Profile)> {
                let mut attach = Command::new(&artefacts::artefacts()?.cli);
                attach.args(["attach", &pid, "--include", "UnderWay", "--for", time, "-o"]);
                attach.arg(&file);
                if !options.is_empty() {
                    let config = program.file("config.properties");
                    fs::write(&config, options)?;
                    attach.arg("--config").arg(config);
                }
                let told = process::run(&mut attach, LIMIT)?.success()?;
                Ok((told, Profile::load(&file)?))
            };
            // On a busy machine the program may have had a hundredth of that time: then more of it.
            let (mut told, mut profile) = session("3s")?;
            if profile.cpu.as_ref().is_some_and(|cpu| cpu.total().samples < 100) {
                (told, profile) = session("60s")?;
            }
            let shown = format!("{}{}", told.stdout, told.stderr);
            assert!(
                shown.contains("UnderWay.main (UnderWay.java:")
                    && shown.contains("none of them came to an end"),
                "{what}: {shown}"
            );
            let map = main_of(&profile);
            let cpu = profile.cpu.as_ref().expect("samples");
            let total = cpu.total().samples;
            let methods = cpu.by_place();
            let of = |name: &str| cpu.frames.iter().position(|frame| frame.name == name);
            let main = &methods[of("main").expect("main")];
            assert!(total >= 50, "{what}: {total}");
            // Samples from before the first look for its name have none: 50 of 3,000 ms, and what a busy
            // machine adds.
            assert!(
                main.all.own.samples * 10 >= total * 8,
                "{what}: {:?} of {total}",
                main.all
            );
            let lines = main.places.iter().filter_map(|(bci, time)| {
                let line = map.line((*bci)?.into())?;
                (6..=11).contains(&line).then_some(time.own.samples)
            });
            let in_loop: u64 = lines.sum();
            assert!(
                in_loop * 10 >= main.all.own.samples * 9,
                "{what}: {in_loop} of {:?}: {:?}",
                main.all,
                main.places
            );
        }
        program.go_on()?;
        program.says("true")?;
    }
    Ok(())
}
