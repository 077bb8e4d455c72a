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
    "windows": f"{_WINDOW}, merged bigint, started timestamp, ended timestamp, exact boolean, complete boolean, probe string, "
    "java string, command string, path_ends bigint, lost bigint, cpu_ns bigint, labels map<string,string>",
    "paths": f"{_WINDOW}, {_METHOD}, graph string, path string, {_COUNT}",
    "path_days": f"{_METHOD}, graph string, path string, {_COUNT}",
    "edge_days": f"{_METHOD}, graph string, edge string, count bigint, exact boolean",
    "method_days": f"{_METHOD}, paths bigint, decisions bigint, cpu_ns bigint, samples bigint",
    "context_days": f"context string, caller string, {_METHOD}, site bigint, along string, depth bigint, chain string, count bigint, "
    "exact boolean",
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
        self.name, self.sql, self.params, self.reaches = name, sql, [], []
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
        self.place = place.rstrip("/")
        self._spark = spark
        self.files = self._files()

