//! Code that was instrumented ahead of its run: which output is which, where its path map is, and starting to
//! profile when it asks for that.
//!
//! *In*: what each output's copy of `trodden.Runtime` reports when its first probe is hit. *Out*: where its
//! counter slots and methods begin in this JVM.

use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use trodden_instrumenter::ProbeKind;
use trodden_profile::options::{self, Action, AgentCommand, OptionError, Probe, ProfileOptions};
use trodden_profile::{Profile, ReadError, facts};

use crate::classes::{Bases, NoIds};
use crate::jvm::Jni;
use crate::log::{info, warning};
use crate::session::agent::{Agent, Control};
use crate::session::control::{CommandError, check_file, start_recording};
use crate::settings::{Settings, apply_log_options};

/// An output's report about itself.
#[derive(Debug, Default)]
pub struct Request {
    /// Which output it is.
    pub unit: String,
    /// The user's options, as in an agent string.
    pub options: String,
    /// Where path maps are, if the user says so: files and folders, separated by colons.
    pub maps: String,
    /// URL that its classes were loaded from, or empty.
    pub location: String,
    /// Its path map, if it has it with it.
    pub map: Option<Vec<u8>>,
}

/// Why an output's classes are not counted.
#[derive(Debug, thiserror::Error)]
pub enum AheadError {
    /// Profiling has ended.
    #[error("profiling has been stopped")]
    Stopped,
    /// It has other probes than this run.
    #[error("it was instrumented with probe {probe}, but this run's is {of_run}")]
    OtherProbe {
        /// Its own.
        probe: String,
        /// That of the run.
        of_run: &'static str,
    },
    /// Its options cannot be read.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// They ask for something else than a start.
    #[error("{0} makes no sense among its options")]
    Action(Action),
    /// It has probes of coverage.
    #[error("it was instrumented for profile 'coverage', which option 'profile' cannot change")]
    CoverageOnly,
    /// Its probe has no name.
    #[error("its probe '{0}' is not known")]
    UnknownProbe(String),
    /// An option asks for another probe.
    #[error("it was instrumented with probe {0}, option 'probe' cannot change that")]
    FixedProbe(&'static str),
    /// Structure graphs have probes of their own.
    #[error("it was instrumented with probe {0}: structural profiles need the agent")]
    Structural(&'static str),
    /// Coverage has probes of its own.
    #[error("it was instrumented with probe {0}: profile 'coverage' wants --profile coverage there, too")]
    NotForCoverage(&'static str),
    /// A host that is not drawn should have no probes.
    #[error("fleet is for the agent: this code carries its probes already")]
    Fleet,
    /// Profiling does not begin.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// There are no numbers left for it.
    #[error(transparent)]
    Ids(#[from] NoIds),
    /// The path map that it has with it cannot be read.
    #[error("the path map packed with it: {0}")]
    PackedMap(#[from] ReadError),
    /// It has no path map, and none is found.
    #[error(
        "no path map of it ({unit}) is found: name it by -Dtrodden.maps=FILE, or instrument with --embed-map{trouble}"
    )]
    NoMap {
        /// Which output it is.
        unit: String,
        /// The files that were looked at, with what is wrong with each.
        trouble: String,
    },
}

/// Takes an output's classes in, and starts profiling if nothing is profiled yet.
///
/// # Errors
/// Why its classes are not counted.
pub fn register(agent: &'static Agent, jni: Jni<'_>, request: &Request) -> Result<Bases, AheadError> {
    let mut control = agent.control();
    if let Some(bases) = agent.host.registry.outputs.bases(&request.unit) {
        return Ok(bases);
    }
    let (map, found) = find_map(request)?;
    let probe = map.run.probe.clone();
    match &control.settings {
        None => start(agent, jni, &mut control, &probe, &request.options)?,
        Some(_) if !control.running() => return Err(AheadError::Stopped),
        Some(settings) if settings.probe.name() != probe => {
            let of_run = settings.probe.name();
            return Err(AheadError::OtherProbe { probe, of_run });
        }
        Some(_) => {}
    }
    let make_room = |probes| {
        let shim = agent.host.shim_if_defined();
        shim.is_some_and(|shim| shim.make_room(jni, probes))
    };
    let bases = agent.host.registry.adopt(&request.unit, map, make_room)?;
    info!("path map {found}: instrumented ahead, counted from here on");
    Ok(bases)
}

fn start(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    probe: &str,
    options: &str,
) -> Result<(), AheadError> {
    // The options come without an action; there is only one.
    let command = AgentCommand::parse_ahead(options, probe)?;
    let AgentCommand { action, mut options } = command;
    if action != Action::Start {
        return Err(AheadError::Action(action));
    }
    if probe == ProbeKind::Coverage.name() {
        if !options.is_coverage() {
            return Err(AheadError::CoverageOnly);
        }
        return begin(agent, jni, control, options);
    }
    let unknown = |_| AheadError::UnknownProbe(probe.to_owned());
    let probe: Probe = probe.parse().map_err(unknown)?;
    if options.is_given("probe") && ![probe, Probe::Auto].contains(&options.probe) {
        return Err(AheadError::FixedProbe(probe.name()));
    }
    if options.is_structural() {
        return Err(AheadError::Structural(probe.name()));
    }
    if options.is_coverage() {
        return Err(AheadError::NotForCoverage(probe.name()));
    }
    options.probe = probe;
    begin(agent, jni, control, options)
}

fn begin(
    agent: &'static Agent,
    jni: Jni<'_>,
    control: &mut Control,
    mut options: ProfileOptions,
) -> Result<(), AheadError> {
    apply_log_options(&options);
    for option in options::options().filter(|option| option.code && options.is_given(option.name)) {
        warning!(
            "option '{}' changes nothing in code that is instrumented already",
            option.name
        );
    }
    if options.fleet.fleet.is_some() {
        return Err(AheadError::Fleet);
    }
    options.code.use_profile = None;
    let settings = Settings {
        ahead: true,
        ..Settings::new(options).map_err(CommandError::from)?
    };
    check_file(&settings)?;
    start_recording(agent, jni, control, settings)?;
    Ok(())
}

/// The output's path map, and where it was.
fn find_map(request: &Request) -> Result<(Profile, String), AheadError> {
    let is_ours = |map: &Profile| map.run.facts.get(facts::UNIT).as_ref() == Some(&request.unit);
    if let Some(bytes) = &request.map {
        let map = Profile::read(bytes)?;
        if is_ours(&map) {
            return Ok((map, format!("packed with {}", request.location)));
        }
    }
    let mut candidates = Vec::new();
    for place in request.maps.split(':').filter(|place| !place.is_empty()) {
        let place = Path::new(place);
        match std::fs::read_dir(place) {
            Ok(files) => {
                let files = files.flatten().map(|file| file.path());
                candidates.extend(files.filter(|file| file.to_string_lossy().ends_with(".map.trodden")));
            }
            Err(_) => candidates.push(place.to_owned()),
        }
    }
    candidates.extend(maps_beside(&request.location));
    let mut trouble = String::new();
    for file in candidates.iter().filter(|file| file.is_file()) {
        match Profile::load(file) {
            Ok(map) if is_ours(&map) => return Ok((map, file.display().to_string())),
            Ok(_) => trouble.push_str(&format!("; {} is another output's", file.display())),
            Err(e) => trouble.push_str(&format!("; {e}")),
        }
    }
    let unit = request.unit.clone();
    Err(AheadError::NoMap { unit, trouble })
}

/// Where the path map may be of what was loaded from a URL: next to the file or folder, or one of those
/// above.
fn maps_beside(location: &str) -> Vec<PathBuf> {
    let mut rest = location;
    while let Some(inner) = ["jar:", "nested:", "war:", "file:"]
        .iter()
        .find_map(|scheme| rest.strip_prefix(scheme))
    {
        rest = inner;
    }
    // The place inside of the file comes after it: by !/ in jars, by /! in nested ones, by */ in unpacked
    // wars.
    let end = ["!/", "/!", "*/"].iter().filter_map(|mark| rest.find(mark)).min();
    let path = decode(&rest[..end.unwrap_or(rest.len())]);
    let path = match path.strip_prefix("//") {
        Some(host_and_path) => host_and_path.find('/').map_or("", |at| &host_and_path[at..]),
        None => &path,
    };
    let beside = |path: &Path| {
        let mut name = path.as_os_str().to_owned();
        name.push(".map.trodden");
        PathBuf::from(name)
    };
    let above = Path::new(path.trim_end_matches('/')).ancestors();
    above
        .filter(|path| path.file_name().is_some())
        .map(beside)
        .collect()
}

/// Undoes a URL's percent signs.
fn decode(url: &str) -> String {
    percent_decode_str(url).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_looked_for_beside_what_was_loaded() {
        let first = |location: &str| maps_beside(location)[0].display().to_string();
        for (location, map) in [
            ("file:/x/app.jar", "/x/app.jar.map.trodden"),
            ("file:///x/app.jar", "/x/app.jar.map.trodden"),
            ("file:/x/a%20b%2B/classes/", "/x/a b+/classes.map.trodden"),
            (
                "jar:file:/x/app.jar!/BOOT-INF/lib/l.jar!/",
                "/x/app.jar.map.trodden",
            ),
            (
                "jar:nested:/x/app.jar/!BOOT-INF/lib/l.jar!/",
                "/x/app.jar.map.trodden",
            ),
            ("war:file:/x/a.war*/WEB-INF/lib/l.jar", "/x/a.war.map.trodden"),
        ] {
            assert_eq!(first(location), map, "{location}");
        }
        let all = maps_beside("file:/x/out/WEB-INF/classes/");
        assert!(all.contains(&PathBuf::from("/x/out.map.trodden")), "{all:?}");
        assert!(maps_beside("").is_empty());
    }

    #[test]
    fn the_map_of_another_output_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.map.trodden");
        let map = |unit: &str| {
            let mut map = Profile::default();
            map.run.facts.set(facts::UNIT, unit);
            map
        };
        map("1").save(&file).unwrap();
        let request = |unit: &str, maps: &Path| Request {
            unit: unit.to_owned(),
            maps: maps.display().to_string(),
            ..Request::default()
        };
        for maps in [file.as_path(), dir.path()] {
            assert!(find_map(&request("1", maps)).is_ok());
            let error = find_map(&request("2", maps)).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("another output's"), "{text}");
        }
        let embedded = Request {
            map: Some(map("2").to_bytes().unwrap()),
            ..request("2", Path::new(""))
        };
        assert!(find_map(&embedded).is_ok());
    }
}
