//! What is run: the kernels, and the applications with their class paths and inputs.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// Names of the kernels, as their `Main` knows them.
pub const KERNELS: &[&str] = &[
    "fft",
    "heapsort",
    "moldyn",
    "raytracer",
    "lexergen",
    "compress",
    "db",
    "mandelbrot",
    "sieve",
    "matmul",
    "montecarlo",
    "convolution",
    "convolution-unrolled",
    "tasktags",
    "nestedreturn",
    "recursion",
    "dispatch",
    "producerconsumer",
    "threadserver",
];

/// An application: a driver program, and what it needs from `apps/`.
#[derive(Debug)]
pub struct App {
    /// Its name on the command line.
    pub name: &'static str,
    /// Simple name of its driver in `drivers/src/trodden/drivers`.
    pub driver: &'static str,
    /// Sets whose jars are on its class path.
    pub sets: &'static [&'static str],
    /// Input files: sets, or parts of file names after a slash.
    pub inputs: &'static [&'static str],
    /// Include option of the agent, where the application is part of the JDK.
    pub include: Option<&'static str>,
}

/// The applications.
pub const APPS: &[App] = &[
    App {
        name: "javac",
        driver: "JavacDriver",
        sets: &[],
        inputs: &["sources/commons-lang3"],
        include: Some("com.sun.tools.javac.*"),
    },
    App {
        name: "ecj",
        driver: "EcjDriver",
        sets: &["ecj"],
        inputs: &["sources/commons-lang3"],
        include: None,
    },
    App {
        name: "closure",
        driver: "ClosureDriver",
        sets: &["closure"],
        inputs: &["scripts"],
        include: None,
    },
    App {
        name: "scala",
        driver: "ScalaDriver",
        sets: &["scala"],
        inputs: &["sources/scala-library"],
        include: None,
    },
    App {
        name: "kotlin",
        driver: "KotlinDriver",
        sets: &["kotlin"],
        inputs: &["sources/kotlinpoet"],
        include: None,
    },
    App {
        name: "h2",
        driver: "H2Driver",
        sets: &["h2"],
        inputs: &[],
        include: None,
    },
    App {
        name: "lucene",
        driver: "LuceneDriver",
        sets: &["lucene"],
        inputs: &["sources/commons-lang3", "sources/commons-math3", "sources/guava"],
        include: None,
    },
    App {
        name: "jython",
        driver: "JythonDriver",
        sets: &["jython"],
        inputs: &[],
        include: None,
    },
    App {
        name: "jackson",
        driver: "JacksonDriver",
        sets: &["jackson"],
        inputs: &[],
        include: None,
    },
    App {
        name: "xalan",
        driver: "XalanDriver",
        sets: &["xalan"],
        inputs: &[],
        include: None,
    },
    App {
        name: "rhino",
        driver: "RhinoDriver",
        sets: &["rhino"],
        inputs: &[],
        include: None,
    },
    App {
        name: "freemarker",
        driver: "FreemarkerDriver",
        sets: &["freemarker"],
        inputs: &[],
        include: None,
    },
    App {
        name: "sat4j",
        driver: "Sat4jDriver",
        sets: &["sat4j"],
        inputs: &[],
        include: None,
    },
    App {
        name: "checkstyle",
        driver: "CheckstyleDriver",
        sets: &["checkstyle"],
        inputs: &["sources/commons-lang3"],
        include: None,
    },
    App {
        name: "groovy",
        driver: "GroovyDriver",
        sets: &["groovy"],
        inputs: &[],
        include: None,
    },
    App {
        name: "jruby",
        driver: "JrubyDriver",
        sets: &["jruby"],
        inputs: &[],
        include: None,
    },
    App {
        name: "saxon",
        driver: "SaxonDriver",
        sets: &["saxon"],
        inputs: &[],
        include: None,
    },
    App {
        name: "http",
        driver: "HttpDriver",
        sets: &[],
        inputs: &[],
        include: None,
    },
];

/// Something that can be run in a JVM and prints a line per iteration.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// Class path, main class and inputs; `--warmup` and `--iterations` are appended.
    pub arguments: Vec<OsString>,
    /// Include option of the agent.
    pub include: Option<&'static str>,
}

/// The workloads of these names; `kernels` and `apps` stand for all of a kind, `all` for everything.
///
/// # Errors
/// If a name is unknown, or files of an application have not been fetched or built.
pub fn choose(workspace: &Workspace, names: &[String]) -> Result<Vec<Workload>> {
    let mut chosen = Vec::new();
    for name in names {
        let all = name == "all";
        let known = chosen.len();
        if all || name == "kernels" {
            chosen.extend(KERNELS.iter().map(|k| kernel(workspace, k)));
        } else if let Some(k) = KERNELS.iter().find(|k| **k == name) {
            chosen.push(kernel(workspace, k));
        }
        for app in APPS
            .iter()
            .filter(|app| all || name == "apps" || app.name == name)
        {
            chosen.push(application(workspace, app)?);
        }
        if chosen.len() == known {
            let apps: Vec<&str> = APPS.iter().map(|app| app.name).collect();
            return Err(Error::Usage(format!(
                "no workload '{name}' (kernels: {}; apps: {}; groups: kernels, apps, all)",
                KERNELS.join(" "),
                apps.join(" ")
            )));
        }
    }
    Ok(chosen)
}

fn kernel(workspace: &Workspace, name: &str) -> Workload {
    Workload {
        name: name.to_owned(),
        arguments: vec![
            "-cp".into(),
            workspace.build().join("kernels").into(),
            "trodden.kernels.Main".into(),
            name.into(),
        ],
        include: None,
    }
}

fn application(workspace: &Workspace, app: &App) -> Result<Workload> {
    let mut class_path = vec![workspace.build().join("drivers").join(app.name)];
    class_path.extend(libraries(workspace, app)?);
    let class_path = std::env::join_paths(class_path)
        .map_err(|e| Error::Usage(format!("class path of {}: {e}", app.name)))?;
    let mut arguments = vec![
        "-cp".into(),
        class_path,
        format!("trodden.drivers.{}", app.driver).into(),
    ];
    for input in app.inputs {
        let (set, part) = input.split_once('/').unwrap_or((input, ""));
        let files = workspace.set(set)?;
        let named = |p: &&PathBuf| {
            let name = p.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(part)
        };
        arguments.extend(files.iter().filter(named).map(OsString::from));
    }
    Ok(Workload {
        name: app.name.to_owned(),
        arguments,
        include: app.include,
    })
}

/// The fetched jars that a driver is compiled and run with.
///
/// # Errors
/// If one has not been fetched.
pub fn libraries(workspace: &Workspace, app: &App) -> Result<Vec<PathBuf>> {
    let mut jars = Vec::new();
    for set in app.sets {
        jars.extend(workspace.set(set)?);
    }
    Ok(jars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_and_set_is_in_the_list() {
        let artifacts = crate::artifacts::parse(include_str!("../../artifacts.txt")).unwrap();
        for app in APPS {
            for input in app.sets.iter().chain(app.inputs) {
                let (set, part) = input.split_once('/').unwrap_or((input, ""));
                let found = artifacts
                    .iter()
                    .filter(|a| a.set == set && a.file_name().starts_with(part))
                    .count();
                assert!(found > 0, "{}: {input} names nothing", app.name);
                assert!(
                    part.is_empty() || found == 1,
                    "{}: {input} names {found} files",
                    app.name
                );
            }
        }
    }

    #[test]
    fn kernels_are_those_of_the_java_side() {
        let main = include_str!("../../kernels/src/trodden/kernels/Main.java");
        let list = main.split_once("KERNELS = List.of(").unwrap().1;
        let listed = list.split_once(");").unwrap().0.matches("new ").count();
        assert_eq!(listed, KERNELS.len());
    }
}
