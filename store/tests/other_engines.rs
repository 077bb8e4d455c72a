//! Spark and DuckDB, which share nothing with DataFusion, read the same files: Spark answers the ready questions with the same
//! bytes, DuckDB gets the same sums.

mod fleet;
#[path = "network/moto.rs"]
mod moto;
mod slow;
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fleet::Fleet;
use support::maven::{from_maven, list};
use support::{Kept, published, python};
use trodden_store::log::Granularity;
use trodden_store::query::READY;
use trodden_store::tables::Table;
use trodden_store::{AddOptions, Adder, CompactOptions, VacuumOptions};

/// Spark within one process.
const LOCAL: [&str; 4] = ["--master", "local[2]", "--conf", "spark.sql.shuffle.partitions=2"];

/// Where a store's folder is.
fn place(kept: &Kept) -> String {
    kept.folder.path().join("fleet").to_string_lossy().into_owned()
}

/// Adds recordings with requests.
async fn with_requests(kept: &Kept) {
    let files = slow::write(kept.folder.path(), slow::PLANTED);
    let mut adder = Adder::new(&kept.store);
    for files in files.chunks(2) {
        adder.add(files, &AddOptions::default()).await.unwrap();
    }
    let asked = support::ask(kept, "slow-requests", &[]).await;
    assert!(!asked.answer.rows.is_empty());
}

/// Asks both engines every ready question, Spark at a place that has the same windows; `settings` are of Spark.
async fn same_answers(kept: &Kept, place: String, python: &Path, settings: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("spark/trodden_spark.py");
    let names = READY.map(|(name, _)| name);
    let params = [("to", "Shop.load"), ("since", "newest-2d")];
    let mut arguments = vec![script.to_string_lossy().into_owned(), place];
    arguments.extend(names.map(str::to_owned));
    let given = params
        .iter()
        .flat_map(|(name, value)| ["--param".to_owned(), format!("{name}={value}")]);
    arguments.extend(given);
    let out = folder.path().to_string_lossy().into_owned();
    arguments.extend(["--format", "json", "--format", "csv", "--folder", &out].map(str::to_owned));
    arguments.extend(settings.iter().map(|&setting| setting.to_owned()));
    python::run(python, arguments);
    let mut rows = 0;
    for name in names {
        let query = trodden_store::query::ready(name).unwrap();
        let known = |(param, _): &&(&str, &str)| query.params.iter().any(|declared| declared.name == *param);
        let own: Vec<(&str, &str)> = params.iter().filter(known).copied().collect();
        let answer = support::ask(kept, name, &support::given(&own)).await.answer;
        rows += answer.rows.len();
        for (format, ours) in [("json", answer.json()), ("csv", answer.csv())] {
            let spark = std::fs::read_to_string(folder.path().join(format!("{name}.{format}"))).unwrap();
            assert!(
                ours == spark,
                "{name}: DataFusion says\n{ours}\nSpark says\n{spark}"
            );
        }
    }
    assert!(rows > names.len(), "nothing to compare");
}

#[tokio::test(flavor = "multi_thread")]
async fn spark_gives_the_same_answers() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let (_, kept) = support::small().await;
    with_requests(&kept).await;
    same_answers(&kept, place(&kept), python, &LOCAL).await;
}

/// Two executors, each a process of its own.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "long: starts a cluster of Spark"]
async fn a_cluster_gives_the_same_answers() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let fleet = Fleet {
        jvms: 40,
        days: 10,
        copies: 20,
        ..Fleet::default()
    };
    let kept = support::stored(&fleet).await;
    same_answers(
        &kept,
        place(&kept),
        python,
        &[
            "--master",
            "local-cluster[2,1,1024]",
            "--conf",
            "spark.executor.memory=1g",
        ],
    )
    .await;
}

/// A thousand JVMs for a month.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "long: makes and takes in 30,000 windows"]
async fn spark_gives_the_same_answers_about_a_large_fleet() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let fleet = Fleet {
        jvms: 1_000,
        days: 30,
        ..Fleet::default()
    };
    let kept = support::stored(&fleet).await;
    same_answers(&kept, place(&kept), python, &LOCAL).await;
}

/// Asks an engine that reads the published tables by their names; the answers have to be the same, byte for byte.
async fn published_answers(kept: &Kept, engine: &str, python: &Path) {
    let params = [("to", "Shop.load"), ("since", "newest-2d")];
    let theirs = published::ask(engine, python, &place(kept), &params);
    let mut rows = 0;
    for (name, _) in READY {
        let query = trodden_store::query::ready(name).unwrap();
        let known = |(param, _): &&(&str, &str)| query.params.iter().any(|declared| declared.name == *param);
        let own: Vec<(&str, &str)> = params.iter().filter(known).copied().collect();
        let answer = support::ask(kept, name, &support::given(&own)).await.answer;
        rows += answer.rows.len();
        let (ours, theirs) = (answer.csv(), theirs.of(name));
        assert!(ours == theirs, "{name}: we say\n{ours}\n{engine} says\n{theirs}");
    }
    assert!(rows > READY.len(), "nothing to compare");
    theirs.has_rows_of(&kept.store.state().await.unwrap());
}

/// Tables of a store after deliveries, after compaction, and after a vacuum.
async fn published_tables(engine: &str, python: &Path) {
    let (fleet, kept) = support::small().await;
    with_requests(&kept).await;
    kept.store.publish().await.unwrap();
    published_answers(&kept, engine, python).await;
    // The first windows in rows of a day, the rest as they came.
    let more = Fleet { seed: 2, ..fleet };
    let windows = more.write(&kept.folder.path().join("more")).unwrap();
    let (first, second) = windows.split_at(windows.len() / 2);
    let mut adder = Adder::new(&kept.store);
    adder.add(first, &AddOptions::default()).await.unwrap();
    let options = CompactOptions {
        to: Some(Granularity::Day),
        older_than_ms: 0,
        ..CompactOptions::default()
    };
    kept.store.compact(&options).await.unwrap();
    adder.add(second, &AddOptions::default()).await.unwrap();
    kept.store.publish().await.unwrap();
    let now = VacuumOptions {
        removed: Duration::ZERO,
        unknown: Duration::ZERO,
        ..VacuumOptions::default()
    };
    let gone = kept.store.vacuum(&now).await.unwrap();
    assert!(gone.files > 0 && gone.published > 0, "{gone:?}");
    published_answers(&kept, engine, python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn duckdb_reads_published_tables() {
    if let Some(python) = python::interpreter() {
        published_tables("duckdb", python).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pyiceberg_reads_published_tables() {
    if let Some(python) = python::interpreter() {
        published_tables("pyiceberg", python).await;
    }
}

/// With an older Spark than the other tests have: there is a runtime of Iceberg for it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "brings 48 MB from Maven Central and a second Spark from PyPI, once"]
async fn spark_reads_published_tables() {
    if let Some(python) = python::with_iceberg() {
        published_tables("spark", python).await;
    }
}

/// Hadoop's `hadoop-aws`, for the Hadoop of this Spark, and what it needs: from Maven Central, once.
fn hadoop_aws(python: &Path) -> Vec<PathBuf> {
    let jars = python::run(
        python,
        [
            "-c",
            "import pyspark, os; print(os.path.join(os.path.dirname(pyspark.__file__), 'jars'), end='')",
        ],
    );
    let jars = PathBuf::from(String::from_utf8(jars.stdout).unwrap());
    let version = list(&jars)
        .iter()
        .find_map(|jar| {
            let name = jar.file_name()?.to_str()?;
            Some(
                name.strip_prefix("hadoop-client-api-")?
                    .strip_suffix(".jar")?
                    .to_owned(),
            )
        })
        .expect("Spark has a Hadoop");
    from_maven("org.apache.hadoop", "hadoop-aws", &version)
}

/// Files and log of the store are read from an S3 server.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "brings 700 MB from Maven Central, once"]
async fn spark_gives_the_same_answers_about_a_store_on_s3() {
    let (Some(python), Some(moto)) = (python::interpreter(), moto::Moto::start()) else {
        return;
    };
    let (_, kept) = support::small().await;
    let mut add = Command::new(env!("CARGO_BIN_EXE_trodden-store"));
    let added = moto::s3(&mut add, moto.address)
        .args(["add", "--create", "s3://fleet/store"])
        .arg(kept.folder.path().join("spool"))
        .output()
        .unwrap();
    assert!(added.status.success(), "{added:?}");
    let jars: Vec<String> = hadoop_aws(python)
        .iter()
        .map(|jar| jar.to_string_lossy().into_owned())
        .collect();
    let settings = [
        format!("spark.jars={}", jars.join(",")),
        format!("spark.hadoop.fs.s3a.endpoint=http://{}", moto.address),
        "spark.hadoop.fs.s3a.endpoint.region=us-east-1".to_owned(),
        "spark.hadoop.fs.s3a.path.style.access=true".to_owned(),
        "spark.hadoop.fs.s3a.access.key=test".to_owned(),
        "spark.hadoop.fs.s3a.secret.key=test".to_owned(),
    ];
    let mut arguments = LOCAL.to_vec();
    arguments.extend(settings.iter().flat_map(|setting| ["--conf", setting.as_str()]));
    same_answers(&kept, "s3a://fleet/store".to_owned(), python, &arguments).await;
}

/// Tables that are published on an S3 server, after a delivery and after compaction and a vacuum.
#[tokio::test(flavor = "multi_thread")]
async fn pyiceberg_reads_tables_published_on_s3() {
    let (Some(python), Some(moto)) = (python::interpreter(), moto::Moto::start()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let files = slow::write(folder.path(), slow::PLANTED);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trodden-store"));
        let output = moto::s3(&mut command, moto.address)
            .args(arguments)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // That tables were not published is only said.
        assert!(
            output.status.success() && said.is_empty(),
            "{arguments:?}: {said}"
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let script = "\
import sys, pyarrow.fs
from pyiceberg.table import StaticTable
host, tables = sys.argv[1], sys.argv[2:]
there = {'access_key': 'test', 'secret_key': 'test', 'region': 'us-east-1'}
files = pyarrow.fs.S3FileSystem(endpoint_override=host, scheme='http', **there)
own = {'s3.access-key-id': 'test', 's3.secret-access-key': 'test', 's3.region': 'us-east-1', 's3.endpoint': f'http://{host}'}
for table in tables:
    folder = f'fleet/store/tables/{table}/metadata'
    version = files.open_input_stream(f'{folder}/version-hint.text').read().decode()
    rows = StaticTable.from_metadata(f's3://{folder}/v{version}.metadata.json', own).scan().to_arrow().num_rows
    print(f'{table},{rows}')
";
    let same_rows = || {
        let mut arguments = vec!["-c".to_owned(), script.to_owned(), moto.address.to_string()];
        arguments.extend(Table::ALL.map(|table| table.name().to_owned()));
        let theirs = python::run(python, arguments);
        let theirs = String::from_utf8(theirs.stdout).unwrap();
        for table in Table::ALL {
            let question = format!("SELECT count(*) AS n FROM {table}");
            let rows = run(&["query", "s3://fleet/store", "--sql", &question, "--format", "csv"]);
            let rows = rows.lines().last().unwrap();
            assert!(
                theirs.lines().any(|line| line == format!("{table},{rows}")),
                "{table}: {rows}\n{theirs}"
            );
        }
    };
    for (at, file) in files.iter().enumerate() {
        let file = file.to_str().unwrap();
        run(&["add", "--create", "s3://fleet/store", file]);
        if at == 0 {
            same_rows();
        }
    }
    run(&["compact", "s3://fleet/store", "--vacuum", "--keep", "0s"]);
    same_rows();
}

#[tokio::test(flavor = "multi_thread")]
async fn spark_says_what_is_wrong() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("spark/trodden_spark.py");
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(python);
        let output = command
            .arg(&script)
            .args(arguments)
            .env("SPARK_LOCAL_IP", "127.0.0.1")
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, said) = run(&["nowhere", "hot-method"]);
    assert!(
        code == Some(2) && said.contains("there is no question 'hot-method'"),
        "{said}"
    );
    let (code, said) = run(&[
        &folder.path().to_string_lossy(),
        "hot-methods",
        "--master",
        "local[1]",
    ]);
    assert!(code == Some(2) && said.contains("is no store"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn duckdb_gets_the_same_sums() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let (_, kept) = support::small().await;
    with_requests(&kept).await;
    let state = kept.store.state().await.unwrap();
    // Of each table: rows, the sum of a number, and how many names are distinct.
    let sums = [
        (Table::Windows, "sum(path_ends)", "count(DISTINCT jvm)"),
        (Table::Paths, "sum(count)", "count(DISTINCT path)"),
        (Table::PathDays, "sum(count)", "count(DISTINCT path)"),
        (Table::EdgeDays, "sum(count)", "count(DISTINCT edge)"),
        (Table::MethodDays, "sum(decisions)", "count(DISTINCT method)"),
        (Table::ContextDays, "sum(count)", "count(DISTINCT chain)"),
        (Table::RequestDays, "sum(weight)", "count(DISTINCT host)"),
        (Table::RequestEdgeDays, "sum(latency_ns)", "count(DISTINCT edge)"),
        (Table::Methods, "sum(line)", "count(DISTINCT graph)"),
        (Table::Branches, "sum(bci)", "count(DISTINCT condition)"),
        (Table::PathTexts, "sum(decisions)", "count(DISTINCT text)"),
    ];
    for (table, sum, distinct) in sums {
        let files: Vec<String> = state
            .files(table)
            .map(|file| format!("'{}/{}'", place(&kept), file.path))
            .collect();
        assert!(!files.is_empty(), "{table}");
        // Folder names are no columns here: all columns are in the files.
        let from = format!("read_parquet([{}], hive_partitioning = false)", files.join(", "));
        let question = |from: &str| {
            format!(
                "SELECT count(*), CAST({sum} AS BIGINT), {distinct}, min(service), max(build) FROM {from}"
            )
        };
        let script = "import duckdb, sys; print(','.join(map(str, duckdb.sql(sys.argv[1]).fetchall()[0])))";
        let output = python::run(python, ["-c", script, &question(&from)]);
        let ours = support::sql(&kept, &question(table.name())).await;
        let ours: Vec<String> = ours.rows[0]
            .iter()
            .map(trodden_store::query::Value::plain)
            .collect();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout).trim(),
            ours.join(","),
            "{table}"
        );
    }
}
