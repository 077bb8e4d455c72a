//! JVMs by their names.

use std::process::Command;

use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts};

use crate::attendee::{Attendee, LIMIT, classes, session_that_sees};

#[test]
fn by_jar_and_process_id() -> Result<()> {
    for jdk in &Jdk::ends()? {
        // No other JVM has this name, also when these tests run twice at once.
        let jar = format!("attendee-{}-of-{}.jar", std::process::id(), jdk.feature);
        let program = Attendee::launch(jdk, classes(jdk, &jar)?, &[], &["-jar", &jar])?;
        let stem = jar.trim_end_matches(".jar");
        for name in [stem, &jar, &program.pid()] {
            let sees = |outcome: &Outcome| Ok(outcome.stdout.contains("Attendee.one"));
            let outcome = session_that_sees(&program, name, "named.json", sees)?;
            assert!(
                outcome.stderr.contains(&format!("({jar})")),
                "{name}: {outcome:?}"
            );
        }
        // A name that two have means none of them.
        let other = Attendee::launch(jdk, classes(jdk, &jar)?, &[], &["-jar", &jar])?;
        let mut session = program.session(stem, "1s", "both.json")?;
        let refused = process::run(&mut session, LIMIT)?;
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        for told in ["several JVMs", &program.pid(), &other.pid()] {
            assert!(refused.stderr.contains(told), "{told}: {refused:?}");
        }
    }
    Ok(())
}

#[test]
fn no_jvm_at_all() -> Result<()> {
    let told = |jvm: &str| {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        process::run(command.args(["attach", jvm, "--for", "1s"]), LIMIT)
    };
    let own = told(&std::process::id().to_string())?;
    assert_eq!(own.status.code(), Some(1));
    assert!(own.stderr.contains("is no HotSpot JVM"), "{own:?}");
    let none = told("4194304")?;
    assert_eq!(none.status.code(), Some(1));
    assert!(none.stderr.contains("there is no process 4194304"), "{none:?}");
    Ok(())
}
