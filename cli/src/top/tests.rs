//! The model, and what is drawn of it, with dumps made by hand.

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use trodden_numbering::{EdgeWeights, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::{
    BlockExit, BlockInfo, ClassMap, ClassProfile, CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime,
    EdgeLabel, LineEntry, MethodCounts, MethodMap, Profile,
};

use super::draw::draw;
use super::model::{Key, Model, Snapshot, Sort, Span};

/// `if` with two ways.
fn fork(name: &str) -> MethodMap {
    let graph = SimpleGraph::new(3, &[(0, 1), (0, 2)]);
    let weights = EdgeWeights::uniform(&graph);
    let dag = PathDag::build(&graph, &weights, &NumberingOptions::default()).unwrap();
    let block = |index: u32, exit, labels: Vec<EdgeLabel>| BlockInfo {
        start: index * 4,
        end: index * 4 + 4,
        last: index * 4 + 3,
        exit,
        labels: labels.into(),
    };
    let both = vec![EdgeLabel::Taken, EdgeLabel::NotTaken];
    let line = |i: u32| LineEntry {
        bci: i * 4,
        line: 10 + i,
    };
    MethodMap {
        name: name.to_owned(),
        descriptor: "(I)V".to_owned(),
        code_length: 12,
        blocks: vec![
            block(0, BlockExit::Branch, both),
            block(1, BlockExit::Return, vec![]),
            block(2, BlockExit::Return, vec![]),
        ],
        graph,
        dag,
        lines: (0..3).map(line).collect(),
        unobserved: vec![],
        inlined: Vec::new(),
        shape: None,
    }
}

/// Per method: its name, how often each way was taken, milliseconds of CPU time in it.
fn dump(seconds: f64, methods: &[(&str, [u64; 2], u64)]) -> Arc<Profile> {
    let map = ClassMap {
        name: "acme/Shop".to_owned(),
        sha256: [1; 32],
        source_file: None,
        methods: methods.iter().map(|(name, ..)| fork(name)).collect(),
    };
    let counts = methods.iter().map(|(_, ways, _)| MethodCounts {
        paths: (0..).zip(*ways).collect(),
        ..MethodCounts::default()
    });
    let class = ClassProfile {
        map: Arc::new(map),
        counts: counts.collect(),
    };
    let frames = methods.iter().map(|(name, ..)| CpuFrame {
        class: "acme/Shop".to_owned(),
        name: (*name).to_owned(),
        descriptor: "(I)V".to_owned(),
        kind: CpuFrameKind::Java,
    });
    let rows = (0..).zip(methods).map(|(frame, (.., ms))| CpuRow {
        parent: None,
        frame,
        bci: Some(1),
        own: CpuTime {
            samples: *ms,
            ns: ms * 1_000_000,
        },
    });
    let mut cpu = CpuSamples {
        reader: "async".to_owned(),
        interval_ns: 1_000_000,
        process_ns: Some((seconds * 0.5e9) as u64),
        ..CpuSamples::default()
    };
    cpu.set_stacks(frames.collect(), &rows.collect::<Vec<_>>());
    let mut profile = Profile {
        classes: vec![class],
        cpu: Some(cpu),
        ..Profile::default()
    };
    profile.run.seconds = seconds;
    profile.run.exact = true;
    Arc::new(profile)
}

fn looks() -> [Arc<Profile>; 3] {
    [
        dump(
            1.0,
            &[
                ("slow", [100, 0], 900),
                ("often", [3_000, 1_000], 100),
                ("rare", [1, 0], 0),
            ],
        ),
        dump(
            3.0,
            &[
                ("slow", [300, 0], 1_000),
                ("often", [9_000, 1_000], 400),
                ("rare", [1, 0], 0),
            ],
        ),
        dump(
            4.0,
            &[
                ("slow", [301, 0], 1_001),
                ("often", [9_000, 1_001], 401),
                ("rare", [1, 5_000], 900),
            ],
        ),
    ]
}

/// After the second look.
fn model() -> Model {
    let [first, second, _] = looks();
    let mut model = Model::new(4711, "acme.Shop", Vec::new());
    model.see(Snapshot::new(Arc::clone(&first), None));
    model.see(Snapshot::new(second, Some(&first)));
    model
}

fn third() -> Snapshot {
    let [_, second, third] = looks();
    Snapshot::new(third, Some(&second))
}

/// Names of the methods, in the order in which they are shown.
fn ranked(model: &Model) -> Vec<&str> {
    let rows = model.table().unwrap().rows.iter();
    rows.map(|row| &*row.names.1).collect()
}

fn screen(model: &mut Model) -> String {
    screen_of(100, model)
}

fn screen_of(width: u16, model: &mut Model) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, 24)).unwrap();
    terminal.draw(|frame| draw(frame, model)).unwrap();
    let buffer = terminal.backend().buffer();
    let lines = buffer.content().chunks(usize::from(width)).map(|line| {
        let line: String = line.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}

#[test]
fn rates_are_those_of_the_span() {
    let mut model = model();
    let row = |model: &Model, name: &str| {
        let mut rows = model.table().unwrap().rows.iter();
        rows.find(|row| row.names.1 == name).unwrap().clone()
    };
    // In the last two seconds; `rare` did not run in them.
    assert_eq!(ranked(&model), ["often", "slow"]);
    let often = row(&model, "often");
    assert_eq!(
        (often.time, often.executions, often.decisions),
        (Some(0.75), Some(3_000.0), Some(3_000.0))
    );
    let about = &model.table().unwrap().about;
    assert_eq!(
        (about.seconds, about.samples, about.processors),
        (2.0, Some(400), Some(0.5))
    );
    assert_eq!(about.elsewhere, Some(0.0));
    assert!(model.press(Key::Span));
    assert_eq!(model.span, Span::All);
    assert_eq!(ranked(&model), ["slow", "often", "rare"]);
    assert_eq!(row(&model, "often").executions, Some(10_000.0 / 3.0));
    assert_eq!(row(&model, "rare").time, Some(0.0));
    assert_eq!(model.seconds(), Some(3.0));
}

#[test]
fn what_is_not_known_is_not_shown_as_zero() {
    let mut profile = Arc::unwrap_or_clone(dump(0.0, &[("slow", [100, 0], 0)]));
    profile.cpu = None;
    let mut model = Model::new(1, "x", Vec::new());
    assert!(model.table().is_none());
    assert!(screen(&mut model).contains("waiting for the first counts"));
    model.see(Snapshot::new(Arc::new(profile), None));
    let row = &model.table().unwrap().rows[0];
    assert_eq!((row.time, row.executions, row.decisions), (None, None, None));
    let shown = screen(&mut model);
    let line = shown
        .lines()
        .find(|line| line.contains("acme.Shop.slow(int)"))
        .unwrap();
    assert_eq!(line.matches('–').count(), 3, "{shown}");
    assert!(
        shown.contains("CPU –") && shown.contains("– decisions/s"),
        "{shown}"
    );
}

#[test]
fn keys_sort_and_move() {
    let mut model = model();
    model.press(Key::Span);
    for (sort, order) in [
        (Sort::Executions, ["often", "slow", "rare"]),
        (Sort::Time, ["slow", "often", "rare"]),
        (Sort::Decisions, ["often", "slow", "rare"]),
    ] {
        model.press(Key::Sort(sort));
        assert_eq!(ranked(&model), order, "{sort:?}");
    }
    model.press(Key::Up);
    assert_eq!(model.selected, 0);
    model.press(Key::Last);
    assert_eq!(model.selected, 2);
    model.press(Key::PageDown);
    assert_eq!(model.selected, 2);
    model.press(Key::Up);
    assert_eq!(model.selected, 1);
    // It is the method that stays selected, not the rank.
    model.press(Key::Sort(Sort::Time));
    assert_eq!((model.selected, ranked(&model)[0]), (0, "slow"));
    // A method that is not there any more leaves its rank.
    model.press(Key::Last);
    model.press(Key::Span);
    assert_eq!((model.selected, ranked(&model).len()), (1, 2));
    model.press(Key::First);
    assert_eq!(model.selected, 0);
    assert!(!model.press(Key::Quit));
}

#[test]
fn freezing_keeps_what_is_shown_until_it_ends() {
    let mut model = model();
    model.press(Key::Freeze);
    model.see(third());
    assert_eq!(ranked(&model), ["often", "slow"]);
    assert!(screen(&mut model).contains("FROZEN"));
    model.press(Key::Freeze);
    assert_eq!(ranked(&model)[0], "rare");
    assert!(!screen(&mut model).contains("FROZEN"));
}

#[test]
fn a_method_is_opened_and_kept_up_to_date() {
    let mut model = model();
    model.press(Key::Open);
    let opened = model.opened.as_ref().unwrap();
    assert_eq!(opened.title, "acme.Shop.often(int)");
    let counts = |model: &Model| -> Vec<u64> {
        let paths = model.opened.as_ref().unwrap().method.paths.iter();
        paths.map(|path| path.count).collect()
    };
    assert_eq!(counts(&model), [6_000]);
    // Ranks change; the open method stays.
    model.see(third());
    assert_eq!(ranked(&model)[0], "rare");
    assert_eq!(counts(&model), [1]);
    model.press(Key::Span);
    assert_eq!(counts(&model).iter().sum::<u64>(), 10_001);
    let shown = screen(&mut model);
    assert!(
        shown.contains("acme.Shop.often(int)") && shown.contains("branches"),
        "{shown}"
    );
    assert!(shown.contains("10 taken") && shown.contains("2,250"), "{shown}");
    // One that did not run in the span says so.
    model.press(Key::Back);
    model.press(Key::Last);
    assert_eq!(ranked(&model)[model.selected], "often");
    assert!(model.opened.is_none());
}

/// The place of the samples is on each of the paths.
#[test]
fn divided_samples_of_the_open_method_are_named() {
    let line = "of its samples are divided among its paths by how often they ran";
    let unanswered = dump(1.0, &[("often", [6_000, 2_000], 400)]);
    let mut answered = Profile::clone(&unanswered);
    let cpu = answered.cpu.as_mut().unwrap();
    let time = cpu.total();
    cpu.paths.add((0, Some(1), Some(1)), time);
    for (profile, part) in [(unanswered, Some("100.0 %")), (Arc::new(answered), None)] {
        let mut model = Model::new(4711, "acme.Shop", Vec::new());
        model.see(Snapshot::new(profile, None));
        model.press(Key::Open);
        let shown = screen(&mut model);
        match part {
            Some(part) => assert!(shown.contains(&format!("{part} {line}")), "{shown}"),
            None => assert!(!shown.contains(line), "{shown}"),
        }
    }
}

#[test]
fn one_that_did_not_run_says_so() {
    let mut model = model();
    model.press(Key::Span);
    model.press(Key::Last);
    model.press(Key::Open);
    assert_eq!(model.opened.as_ref().unwrap().title, "acme.Shop.rare(int)");
    model.press(Key::Span);
    assert!(screen(&mut model).contains("did not run in this time"));
}

#[test]
fn a_profiler_that_another_command_stopped_is_told() {
    let [_, second, _] = looks();
    let mut model = model();
    assert!(!model.stands_still());
    model.see(Snapshot::new(Arc::clone(&second), Some(&second)));
    assert!(model.stands_still());
    assert!(screen(&mut model).contains("NOT RECORDING"));
}

#[test]
fn the_screen() {
    let mut model = model();
    let shown = screen(&mut model);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines[0],
        "trodden top  4711 acme.Shop  for 3 s  in the last 2.0 s"
    );
    assert_eq!(
        lines[1],
        "0.50 CPUs busy  400 samples  3,100 paths/s  3,100 decisions/s  0.0 % elsewhere"
    );
    assert_eq!(lines[2], "   ▼time    executions/s     decisions/s  method");
    assert_eq!(
        lines[3],
        "  75.0 %           3,000           3,000  acme.Shop.often(int)"
    );
    assert_eq!(
        lines[4],
        "  25.0 %             100             100  acme.Shop.slow(int)"
    );
    assert!(lines[23].contains("q quit"), "{shown}");
    model.press(Key::Help);
    assert!(screen(&mut model).contains("leave; the program gets its own code back"));
    model.press(Key::Back);
    assert!(!model.help);
    // However small the terminal is.
    for (width, height) in [(1, 1), (20, 3), (300, 100)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        for key in [Key::Back, Key::Open, Key::Help] {
            model.press(key);
            terminal.draw(|frame| draw(frame, &mut model)).unwrap();
        }
        model.press(Key::Help);
        model.press(Key::Back);
    }
}

/// A server that mostly waits in the JDK: 800 of 1,000 ms have no row.
fn server() -> Arc<Profile> {
    let mut profile = Arc::unwrap_or_clone(dump(1.0, &[("slow", [100, 0], 200), ("loops", [0, 0], 100)]));
    let cpu = profile.cpu.as_mut().unwrap();
    let mut frames = cpu.frames.clone();
    let mut rows = cpu.tree.rows();
    let (first, none) = (frames.len() as u32, CpuTime::default());
    for name in [
        "jdk/Thread.run",
        "jdk/Server.dispatch",
        "jdk/Selector.select",
        "jdk/Net.poll",
    ] {
        let (class, name) = name.split_once('.').unwrap();
        frames.push(CpuFrame {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: "()V".to_owned(),
            kind: CpuFrameKind::Java,
        });
    }
    for (at, ms) in [(0, 0), (1, 0), (2, 50), (3, 650)] {
        let own = CpuTime {
            samples: ms,
            ns: ms * 1_000_000,
        };
        rows.push(CpuRow {
            parent: (at > 0).then(|| rows.len() as u32 - 1),
            frame: first + at,
            bci: None,
            own: if ms == 0 { none } else { own },
        });
    }
    cpu.set_stacks(frames, &rows);
    Arc::new(profile)
}

#[test]
fn time_elsewhere_is_opened() {
    let mut model = Model::new(1, "Server", Vec::new());
    model.see(Snapshot::new(server(), None));
    let table = model.table().unwrap();
    assert_eq!(
        (table.rows[0].is_elsewhere(), table.rows[0].time),
        (true, Some(0.8))
    );
    let found: Vec<_> = (table.elsewhere.iter())
        .map(|one| (&*one.title, one.share, one.has_probes))
        .collect();
    assert_eq!(
        found,
        [
            ("jdk.Net.poll", 0.65, false),
            ("acme.Shop.loops", 0.1, true),
            ("jdk.Selector.select", 0.05, false)
        ]
    );
    let way = "jdk.Selector.select ← jdk.Server.dispatch ← jdk.Thread.run";
    assert_eq!(table.elsewhere[0].from, [(way.to_owned(), 0.65)]);
    for width in [100, 60] {
        assert!(screen_of(width, &mut model).contains("  80.0 %"));
        model.press(Key::Open);
        let shown = screen_of(width, &mut model);
        for part in [
            "65.0 %  jdk.Net.poll",
            "from jdk.Selector.select ←",
            "acme.Shop.loops\n          no path ended",
        ] {
            assert!(shown.contains(part), "{shown}");
        }
        model.press(Key::Back);
    }
}

/// The last words of a name or a path decide.
#[test]
fn nothing_is_cut_at_sixty_columns() {
    let mut profile = Arc::unwrap_or_clone(server());
    let cpu = profile.cpu.as_mut().unwrap();
    let mut frames = cpu.frames.clone();
    let rows = cpu.tree.rows();
    for frame in frames.iter_mut().filter(|frame| frame.class.starts_with("jdk/")) {
        frame.class = format!("java/util/concurrent/locks/{}$ConditionObject", &frame.class[4..]);
    }
    cpu.set_stacks(std::mem::take(&mut frames), &rows);
    let mut model = Model::new(1, "Server", Vec::new());
    model.see(Snapshot::new(Arc::new(profile), None));
    model.press(Key::Open);
    let shown = screen_of(60, &mut model);
    for part in [
        "  65.0 %  Net$ConditionObject.poll",
        "from Selector$ConditionObject.select ←",
        "Thread$ConditionObject.run",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    model.press(Key::Back);
    model.press(Key::Down);
    model.press(Key::Open);
    let shown = screen_of(60, &mut model);
    let way = shown.split_once("from method entry").expect("a path").1;
    let way = way.split_once(" to ").expect("its end").1;
    assert!(
        way.trim_start().starts_with("return"),
        "the end of a path is not whole: {shown}"
    );
}

#[test]
fn sixty_columns_are_enough() {
    let mut model = model();
    let shown = screen_of(60, &mut model);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines[1],
        "0.50 CPUs busy  400 samples  3,100 paths/s  0.0 % elsewhere"
    );
    assert_eq!(lines[2], "   ▼time  executions/s  method");
    assert_eq!(lines[3], "  75.0 %         3,000  acme.Shop.often(int)");
    assert!(lines[23].ends_with("q quit"), "{shown}");
    model.press(Key::Sort(Sort::Decisions));
    let shown = screen_of(60, &mut model);
    assert!(
        shown.contains("▼decisions/s") && !shown.contains("executions/s"),
        "{shown}"
    );
    model.press(Key::Help);
    let shown = screen_of(60, &mut model);
    assert!(shown.lines().all(|line| line.chars().count() <= 60));
    assert!(
        shown.contains("the program gets its own code back") && shown.contains("–              not known"),
        "{shown}"
    );
    model.press(Key::Help);
    model.press(Key::Freeze);
    assert!(screen_of(60, &mut model).contains("FROZEN"));
}
