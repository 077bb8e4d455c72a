#!/usr/bin/env python3
"""Reads the published tables of a store by their names, and asks them ready questions.

    published.py ENGINE STORE FOLDER JARS NAME=VALUE… QUESTION…

JARS are Spark's. ENGINE is `duckdb`, `pyiceberg` (its rows, DuckDB's SQL) or `spark`. Into FOLDER goes NAME.csv for each question, and
`rows.csv` with the number of rows of each table.
"""

import glob
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "spark"))
import trodden_spark as trodden  # noqa: E402

_TYPES = {"DATE": "DATE", "TEXT": "VARCHAR", "BIGINT": "BIGINT", "DOUBLE": "DOUBLE"}


class Log(trodden.Store):
    """What the log says, without Spark."""

    def __init__(self, place):
        super().__init__(None, place)

    def _list(self, folder):
        return os.listdir(f"{self.place}/{folder}")

    def _read(self, name):
        return pathlib.Path(f"{self.place}/{name}").read_text(encoding="utf-8")


class Duck:
    """DuckDB's own reader of Iceberg."""

    def __init__(self, log, _jars):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        for name in trodden.SCHEMAS:
            self.table(name, log.place)

    def table(self, name, place):
        if name == "windows":
            import duckdb_extension_avro
            import duckdb_extension_iceberg

            # Extensions that PyPI has; DuckDB checks their signatures.
            for module in [duckdb_extension_avro, duckdb_extension_iceberg]:
                [file] = glob.glob(os.path.dirname(module.__file__) + "/extensions/*/*.duckdb_extension")
                self.connection.execute(f"LOAD '{file}'")
        self.connection.execute(f"CREATE VIEW {name} AS SELECT * FROM iceberg_scan('{place}/tables/{name}')")

    def ask(self, log, question, given):
        params = question.values(given, log.newest())
        row = ", ".join(f"CAST(? AS {_TYPES[kind]}) AS {name}" for name, kind, _ in params)
        run = self.connection.execute
        if params:
            run("CREATE OR REPLACE TEMP TABLE params AS SELECT " + row, [value for _, _, value in params])
        run("CREATE OR REPLACE TEMP TABLE gaps (jvm VARCHAR, from_window BIGINT, to_window BIGINT)")
        if log.gaps:
            self.connection.executemany("INSERT INTO gaps VALUES (?, ?, ?)", log.gaps)
        for name in question.views:
            run(f"CREATE OR REPLACE TEMP VIEW {name} AS {trodden.sql_of(f'views/{name}')}")
        answer = run(question.sql)
        return [column[0] for column in answer.description], answer.fetchall()

    def count(self, name):
        # All columns are read, the map too.
        return len(self.connection.execute(f"SELECT * FROM {name}").fetchall())


class Arrow(Duck):
    """PyIceberg's reader: a catalog in memory in which the tables are registered."""

    def table(self, name, place):
        from pyiceberg.catalog import load_catalog

        if name == "windows":
            self.catalog = load_catalog("store", type="in-memory", warehouse="/nowhere")
            self.catalog.create_namespace("tables")
        folder = f"{place}/tables/{name}/metadata"
        hint = pathlib.Path(folder, "version-hint.text").read_text(encoding="utf-8")
        table = self.catalog.register_table(f"tables.{name}", f"file://{folder}/v{hint}.metadata.json")
        self.connection.register(name, table.scan().to_arrow())


class Spark:
    """Spark with Iceberg's runtime: the store is the warehouse of a Hadoop catalog."""

    def __init__(self, log, jars):
        from pyspark.sql import SparkSession

        settings = {
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.jars": jars,
            "spark.sql.catalog.fleet": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.fleet.type": "hadoop",
            "spark.sql.catalog.fleet.warehouse": f"file://{log.place}",
        }
        builder = SparkSession.builder.master("local[2]").appName("published")
        for name, setting in settings.items():
            builder = builder.config(name, setting)
        self.spark = builder.getOrCreate()
        for name in trodden.SCHEMAS:
            self.spark.table(f"fleet.tables.{name}").createOrReplaceTempView(name)

    def ask(self, log, question, given):
        log.spark = self.spark
        # The views of tables are there; only what comes of the log is made by it.
        log._view = lambda table, paths: None
        from py4j.protocol import Py4JJavaError

        try:
            columns, rows, _ = log.ask(question, given)
        except Py4JJavaError:
            # Spark 4.1 fails at the first question that has views over views, and not at the same one afterwards.
            columns, rows, _ = log.ask(question, given)
        return columns, rows

    def count(self, name):
        return self.spark.table(name).count()


def main():
    engine, place, folder, jars, *given = sys.argv[1:]
    log = Log(place)
    asked = {"duckdb": Duck, "pyiceberg": Arrow, "spark": Spark}[engine](log, jars)
    questions = [name for name in given if "=" not in name]
    given = dict(pair.split("=", 1) for pair in given if "=" in pair)
    for name in questions:
        question = trodden.question(name)
        known = {param for param, _, _ in question.params}
        columns, rows = asked.ask(log, question, {name: value for name, value in given.items() if name in known})
        pathlib.Path(folder, f"{name}.csv").write_bytes(trodden.as_csv(columns, rows).encode("utf-8"))
    rows = "".join(f"{name},{asked.count(name)}\n" for name in trodden.SCHEMAS)
    pathlib.Path(folder, "rows.csv").write_text(rows, encoding="utf-8")


if __name__ == "__main__":
    main()
