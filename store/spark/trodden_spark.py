#!/usr/bin/env python3
"""Asks a Trodden store with Spark: the questions that `trodden store query` asks, and the same answers, byte for byte.

    trodden_spark.py STORE never-taken --param since=2026-11-01
    trodden_spark.py STORE mine.sql --format csv -o answer.csv
    spark-submit --master spark://host:7077 trodden_spark.py s3a://bucket/fleet hot-methods

Needs PySpark, and nothing of Trodden: which files are in the store stands in its log.
"""

import argparse
import csv
import datetime
import decimal
import hashlib
import io
import json
import math
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
#: Where questions are looked for: beside this file, or in a checkout.
QUERIES = [FOLDER / "queries", FOLDER.parent.parent / "docs" / "fleet" / "queries"]

_METHOD = "class string, method string, descriptor string"
_WINDOW = "host string, jvm string, window bigint"
_COUNT = "count bigint, exact boolean, error double"
#: Columns behind service, build and day, as docs/fleet/tables.md has them.
_FACTS = {
    "windows": f"{_WINDOW}, merged bigint, started timestamp, ended timestamp, claimed timestamp, exact boolean, complete boolean, "
    "is_last boolean, probe string, java string, command string, path_ends bigint, lost bigint, cpu_ns bigint, labels map<string,string>",
    "paths": f"{_WINDOW}, {_METHOD}, graph string, path string, {_COUNT}",
    "path_days": f"{_METHOD}, graph string, path string, {_COUNT}",
    "edge_days": f"{_METHOD}, graph string, edge string, count bigint, exact boolean",
    "method_days": f"{_METHOD}, paths bigint, decisions bigint, cpu_ns bigint, samples bigint",
    "context_days": f"context string, caller string, {_METHOD}, site bigint, along string, depth bigint, chain string, count bigint, "
    "exact boolean",
    "request_days": "host string, request string, from_ns bigint, requests bigint, unreadable bigint, samples bigint, weight bigint, "
    "squares bigint, latency_ns bigint, collected bigint, waited bigint",
    "request_edge_days": f"host string, request string, from_ns bigint, {_METHOD}, graph string, edge string, samples bigint, "
    "weight bigint, times bigint, latency_ns bigint",
}
_TIMELESS = {
    "methods": f"{_METHOD}, graph string, source_file string, line bigint, possible_paths bigint",
    "branches": f"{_METHOD}, graph string, edge string, bci bigint, line bigint, condition string, outcome string, made boolean",
    "path_texts": f"{_METHOD}, graph string, path string, text string, decisions bigint",
}
#: Tables and their columns, in Spark's words.
SCHEMAS = {name: f"service string, build string, day date, {columns}" for name, columns in _FACTS.items()}
SCHEMAS.update({name: f"service string, build string, {columns}" for name, columns in _TIMELESS.items()})

_TYPES = {"DATE": "date", "TEXT": "string", "BIGINT": "bigint", "DOUBLE": "double"}


class Wrong(Exception):
    """A question, or a store, that makes no sense."""


class Question:
    """SQL and what the comments at its head declare."""

    def __init__(self, name, sql):
        self.name, self.sql, self.params, self.reaches, self.views = name, sql, [], [], []
        for line in sql.splitlines():
            if not line.startswith("--"):
                break
            line = line[2:].strip()
            if line.startswith("param "):
                spec, _, _ = line[len("param "):].partition(": ")
                words = spec.split(" ", 3)
                self.params.append((words[0], words[1], words[3] if len(words) > 3 else None))
            elif line.startswith("days "):
                words = line.split(" ")
                self.reaches.append((words[1], words[3], words[5] if len(words) > 5 else None))
            elif line.startswith("views "):
                self.views += map(str.strip, line[len("views "):].split(","))

    def values(self, given, newest):
        """The row of `params`: (name, type, value)."""
        unknown = set(given) - {name for name, _, _ in self.params}
        if unknown:
            known = ", ".join(name for name, _, _ in self.params) or "none"
            raise Wrong(f"{self.name} has no parameter '{min(unknown)}'. It has {known}.")
        row = []
        for name, kind, default in self.params:
            text = given.get(name)
            if text is None:
                if default is None:
                    raise Wrong(f"{self.name} needs --param {name}=…")
                text = default[1:-1] if kind == "TEXT" else default
            row.append((name, kind, value(kind, text, newest)))
        return row


def value(kind, text, newest):
    """A parameter's value out of a text."""
    try:
        if kind == "DATE":
            if text == "newest":
                return newest
            days = re.fullmatch(r"(?:newest-)?(\d+)d", text)
            return newest - datetime.timedelta(int(days[1])) if days else datetime.date.fromisoformat(text)
        return {"TEXT": str, "BIGINT": int, "DOUBLE": float}[kind](text)
    except ValueError as error:
        raise Wrong(f"'{text}' is no {kind}: {error}") from error


class Store:
    """The files of a store: which there are stands in its log."""

    def __init__(self, spark, place):
        self.spark = spark
        self.place = place.rstrip("/")
        files, self.gaps, self.committed = self._state()
        self.files = list(files.values())

    def newest(self):
        """The newest day of which there is anything; days after the one that follows the last commit only if there is nothing else."""
        days = [datetime.date.fromisoformat(file["day"]) for file in self.files if file.get("day")]
        latest = self.committed + datetime.timedelta(1)
        return max([day for day in days if day <= latest] or days, default=datetime.date(1970, 1, 1))

    def ask(self, question, given):
        """Rows of an answer: (columns, rows of Python values, parameters)."""
        params = question.values(given, self.newest())
        values = {name: value for name, _, value in params}
        for table in SCHEMAS:
            self._view(table, self._chosen(table, question, values))
        self._gaps_view()
        row = ", ".join(f"{name} {_TYPES[kind]}" for name, kind, _ in params) or "none bigint"
        frame = self.spark.createDataFrame([tuple(value for _, _, value in params) or (0,)], row)
        frame.createOrReplaceTempView("params")
        for name in question.views:
            self.spark.sql(sql_of(f"views/{name}")).createOrReplaceTempView(name)
        answer = self.spark.sql(question.sql)
        return answer.columns, [tuple(row) for row in answer.collect()], params

    def views(self):
        """Makes the views of all tables, with all their rows."""
        for table in SCHEMAS:
            self._view(table, (f"{self.place}/{file['path']}" for file in self.files if file["table"] == table))
        self._gaps_view()

    def _chosen(self, table, question, values):
        """Files of a table that can have rows that matter."""
        service = values.get("service") or None
        for file in self.files:
            if file["table"] != table or (service and file["service"] != service):
                continue
            inside = True
            for of, begin, end in question.reaches:
                if of == table:
                    day = datetime.date.fromisoformat(file["day"])
                    inside = inside and values[begin] <= day and (end is None or day <= values[end])
            if inside:
                yield f"{self.place}/{file['path']}"

    def _view(self, table, paths):
        reader = self.spark.read.schema(SCHEMAS[table])
        paths = list(paths)
        frame = reader.parquet(*paths) if paths else self.spark.createDataFrame([], SCHEMAS[table])
        frame.createOrReplaceTempView(table)

    def _gaps_view(self):
        """Windows that did not come in, of recordings with later ones."""
        frame = self.spark.createDataFrame(self.gaps, "jvm string, from_window bigint, to_window bigint")
        frame.createOrReplaceTempView("gaps")

    def _state(self):
        """What the newest checkpoint says, and the commits behind it: files by path, gaps between windows, the day of the last commit."""
        self._log_file("trodden-store.json", "trodden-store")
        names = sorted(self._list("log"))
        files, windows, at_ms, version = {}, {}, 0, 0
        checkpoints = [name for name in names if re.fullmatch(r"\d{20}\.checkpoint\.json", name)]
        if checkpoints:
            version = int(checkpoints[-1].split(".")[0])
            checkpoint = self._log_file(f"log/{checkpoints[-1]}", "trodden-store-checkpoint")
            for of_table in checkpoint["files"].values():
                files.update(of_table)
            windows, at_ms = checkpoint["windows"], checkpoint["at_ms"]
        for name in names:
            if re.fullmatch(r"\d{20}\.json", name) and int(name.split(".")[0]) > version:
                version += 1
                if int(name.split(".")[0]) != version:
                    raise Wrong(f"{self.place}: commit {version} is missing, and log/{name} is there")
                commit = self._log_file(f"log/{name}", "trodden-store-commit")
                for path in commit["removed"]:
                    files.pop(path, None)
                files.update({file["path"]: file for file in commit["added"]})
                for jvm, ranges in commit.get("windows", {}).items():
                    windows.setdefault(jvm, []).extend(ranges)
                at_ms = max(at_ms, commit["at_ms"])
        gaps = [(jvm, first, last) for jvm, ranges in windows.items() for first, last in _between(ranges)]
        return files, gaps, datetime.date(1970, 1, 1) + datetime.timedelta(at_ms // 86_400_000)

    def _log_file(self, name, wanted):
        """What a file of the log says, if it is whole and of a known version."""
        text = self._read(name)
        file = json.loads(text)
        if file.get("format") != wanted:
            raise Wrong(f"{self.place}/{name} is damaged: its format is '{file.get('format')}', not '{wanted}'")
        if file.get("format_version") != 1:
            raise Wrong(f"{self.place}/{name} has format version {file.get('format_version')}; this program reads 1")
        # The body comes last, and its checksum is of its text.
        body = text[text.index('"body":') + len('"body":'):text.rindex("}")]
        if hashlib.sha256(body.encode("utf-8")).hexdigest() != file["sha256"]:
            raise Wrong(f"{self.place}/{name} is damaged: its SHA-256 is not what it says")
        return file["body"]

    def _path(self, name):
        """A file of the store, for Hadoop."""
        jvm = self.spark._jvm
        path = jvm.org.apache.hadoop.fs.Path(f"{self.place}/{name}")
        return path.getFileSystem(self.spark._jsc.hadoopConfiguration()), path

    def _list(self, folder):
        system, path = self._path(folder)
        return [status.getPath().getName() for status in system.listStatus(path)] if system.exists(path) else []

    def _read(self, name):
        system, path = self._path(name)
        if not system.exists(path):
            raise Wrong(f"{self.place} is no store: it has no {name}")
        stream = system.open(path)
        try:
            return bytes(self.spark._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)).decode("utf-8")
        finally:
            stream.close()


def _between(ranges):
    """First and last number of what is missing from 1 up to the greatest one."""
    end = 0
    for first, last in sorted(ranges):
        if first > end + 1:
            yield end + 1, first - 1
        end = max(end, last)


def plain(value):
    """A value as CSV has it."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return "+".join(f"{key}:{'' if text is None else text}" for key, text in value.items())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, decimal.Decimal)):
        number = float(value)
        # The shortest digits without exponents, as the other side writes them.
        return format(decimal.Decimal(repr(number + 0.0)), "f") if math.isfinite(number) else ""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def as_json(name, columns, rows, params):
    """Format trodden-query, version 1."""

    def cell(value):
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            return "null"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{quoted(key)}: {cell(text)}" for key, text in value.items()) + "}"
        return plain(value) if isinstance(value, (bool, int, float, decimal.Decimal)) else quoted(plain(value))

    given = ", ".join(f"{quoted(param)}: {quoted(text(kind, value))}" for param, kind, value in params)
    lines = ["{" + ", ".join(f"{quoted(column)}: {cell(value)}" for column, value in zip(columns, row)) + "}" for row in rows]
    body = ("\n" + ",\n".join(lines)) if lines else ""
    names = ", ".join(map(quoted, columns))
    return (
        f'{{\n"format": "trodden-query",\n"version": 1,\n"query": {quoted(name)},\n"params": {{{given}}},\n'
        f'"columns": [{names}],\n"rows": [{body}\n]\n}}\n'
    )


def text(kind, value):
    """A parameter as text: whole numbers have no point."""
    if kind == "DOUBLE":
        digits = format(decimal.Decimal(repr(value)), "f")
        return digits.removesuffix(".0")
    return plain(value)


def as_csv(columns, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([plain(value) for value in row] for row in rows)
    return out.getvalue()


def question(name):
    """A question of Trodden by its name, or a file with SQL."""
    if name.endswith(".sql"):
        path = pathlib.Path(name)
        return Question(path.stem, path.read_text(encoding="utf-8"))
    return Question(name, sql_of(name))


def sql_of(name):
    """The SQL of a question of Trodden, or of a view that its questions share."""
    paths = [folder / f"{name}.sql" for folder in QUERIES]
    for path in filter(pathlib.Path.is_file, paths):
        return path.read_text(encoding="utf-8")
    known = sorted(other.stem for path in paths for other in path.parent.glob("*.sql"))
    raise Wrong(f"there is no question '{name}'. There are {', '.join(known)}; or name a file .sql.")


def session(arguments):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("trodden")
    if arguments.master:
        builder = builder.master(arguments.master)
    settings = {
        "spark.sql.session.timeZone": "UTC",
        # The files have all columns themselves, whatever folders are called.
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    settings.update(setting.split("=", 1) for setting in arguments.conf)
    for name, setting in settings.items():
        builder = builder.config(name, setting)
    return builder.getOrCreate()


def arguments():
    parser = argparse.ArgumentParser(description="Asks a Trodden store with Spark.")
    parser.add_argument("store", help="folder, or URL such as s3a://bucket/prefix")
    parser.add_argument("question", nargs="+", help="name of a question, or a file .sql; several need --folder")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter")
    parser.add_argument("--format", action="append", choices=["json", "csv"], help="json by default; several need --folder")
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of standard output")
    parser.add_argument("--folder", metavar="DIR", help="writes NAME.json or NAME.csv for each question")
    parser.add_argument("--master", help="Spark master; not needed under spark-submit")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark")
    given = parser.parse_args()
    given.format = given.format or ["json"]
    if (len(given.question) > 1 or len(given.format) > 1) and not given.folder:
        parser.error("several questions or formats need --folder")
    for pair in given.param + given.conf:
        if "=" not in pair:
            parser.error(f"'{pair}' is not NAME=VALUE")
    return given


def main():
    given = arguments()
    params = dict(pair.split("=", 1) for pair in given.param)
    try:
        questions = [question(name) for name in given.question]
        store = Store(session(given), given.store)
        for one in questions:
            known = {name for name, _, _ in one.params}
            # Of several questions, each takes what it has.
            own = params if len(questions) == 1 else {name: value for name, value in params.items() if name in known}
            columns, rows, values = store.ask(one, own)
            for form in given.format:
                out = as_json(one.name, columns, rows, values) if form == "json" else as_csv(columns, rows)
                path = pathlib.Path(given.folder) / f"{one.name}.{form}" if given.folder else given.output
                if path:
                    # Bytes, so that no system changes the ends of lines.
                    pathlib.Path(path).write_bytes(out.encode("utf-8"))
                else:
                    sys.stdout.buffer.write(out.encode("utf-8"))
    except (Wrong, OSError, json.JSONDecodeError) as error:
        print(f"trodden_spark: {error}", file=sys.stderr)
        return 2 if isinstance(error, Wrong) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
