#!/usr/bin/env python3
"""Asks a question of this folder over the tables of many hosts, with Apache Spark 3.5 or 4.

    spark-submit ask.py --runs s3a://bucket/runs top-owners.sql
    spark-submit ask.py --runs /mnt/runs --set before=2.7.0 --set after=2.7.1 release-difference.sql

The text of a question is the same for Spark and DuckDB: its SQL is what both understand, and
getvariable('name') stands for what --set says: a number where the question has one as default,
as in coalesce(getvariable('rows'), 20), else a text. docs/fleet.md says more.
"""

import argparse
import contextlib
import datetime
import json
import pathlib
import re
import sys
import urllib.parse

# The columns of docs/tables.md. Declared rather than found out, so that Spark need not open a file before the
# question is asked, and that columns which older files lack are empty.
TABLES = {
    "runs": """
        pid bigint, jvm string, start timestamp, start_unix_ns bigint, duration_ns bigint, kinds string,
        is_filtered boolean, has_nestings boolean, waits bigint, blocked_ns bigint, is_complete boolean, lost_events bigint,
        release string""",
    "waits": """
        wait bigint, event_lock bigint, event_number bigint, mechanism string, kind string, end string,
        after_wait boolean, begun_before_trace boolean, lock_class string, lock bigint, thread bigint,
        method string, chain string, start timestamp, start_ns bigint, duration_ns bigint,
        safepoint_ns bigint, barging_holds bigint, deadline_ns bigint, waker bigint""",
    "blame": """
        wait bigint, mechanism string, kind string, lock_class string, lock bigint, thread bigint,
        method string, chain string, owner string, unknown_reason string, owner_thread bigint,
        owner_method string, owner_chain string, start timestamp, duration_ns bigint,
        contentions bigint""",
    "nestings": """
        wait bigint, outer_class string, outer_lock bigint, inner_class string, inner_lock bigint,
        thread bigint, owning_method string, owning_chain string, waiting_method string,
        waiting_chain string, start timestamp, start_ns bigint, duration_ns bigint""",
    "threads": "thread bigint, java_id bigint, name string",
    "locks": "lock bigint, lock_class string, identity_hash bigint, label string",
    "chains": "chain string, depth bigint, method string, line bigint, bci bigint, is_truncated boolean",
    "methods": "method string, class string, name string, signature string, source_file string",
}

# Versions that did not look for nestings left no folder for them.
LATER_TABLES = {"nestings"}

# Call chains as texts, the innermost method first.
STACKS = """
    select day, host, run, chain,
        array_join(transform(array_sort(collect_list(struct(depth, method))), frame -> split_part(frame.method, '(', 1)), ' < ')
            as stack
    from chains
    group by all
"""

# Those of the folders' names. Spark would make a number of a host called 12.
FOLDERS = "day date, host string, run string"

# A sum that is too large is an error, and moments are those of UTC everywhere.
SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Asks a question over the tables of many hosts, with Apache Spark.",
        epilog="Exit codes: 0 done; 2 wrong usage; 1 Spark cannot answer, standard error says why.",
    )
    parser.add_argument("question", type=pathlib.Path, help="a file of SQL; those of this folder by their names")
    parser.add_argument("--runs", required=True, metavar="URL", help="where locktrace has put the tables")
    parser.add_argument("--since", type=datetime.date.fromisoformat, metavar="DAY", help="no day before it")
    parser.add_argument("--until", type=datetime.date.fromisoformat, metavar="DAY", help="no day after it")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
        help="a variable of the question: a number where that has one as default, else a text",
    )
    parser.add_argument("--json", action="store_true", help="a line of JSON for each row instead of a table")
    parser.add_argument("--explain", action="store_true", help="on standard error, what Spark reads, and how")
    arguments = parser.parse_args()
    if not arguments.question.exists():
        arguments.question = pathlib.Path(__file__).parent / arguments.question
    if not arguments.question.exists():
        parser.error(f"{arguments.question}: there is no such file")
    arguments.question_text = arguments.question.read_text()
    try:
        with_variables(arguments.question_text, dict(arguments.set))
    except ValueError as error:
        parser.error(error)
    return arguments


def assignment(text):
    name, equals, value = text.partition("=")
    if not (equals and re.fullmatch(r"\w+", name)):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text}")
    return name, value


NUMBER = r"-?\d+(?:\.\d+)?"


def literal(name, value, is_number):
    """A variable's value as SQL has it. ValueError if it is no number, but has to be."""
    if value is None:
        return "null"
    if is_number:
        if not re.fullmatch(NUMBER, value):
            raise ValueError(f"{name}: expected a number, found {value}")
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def with_variables(question, variables):
    """The question with the values of its variables, null where a variable has no value.

    A number is what has a number as default somewhere; all else is a text: a release is called 2.10, not 2.1.
    ValueError if a variable is no number, but has to be.
    """
    numbers = set(re.findall(rf"coalesce\(\s*getvariable\('(\w+)'\)\s*,\s*{NUMBER}\s*\)", question))

    def value(variable):
        name = variable[1]
        return literal(name, variables.get(name), name in numbers)

    return re.sub(r"getvariable\('(\w+)'\)", value, question).strip().rstrip(";")


def read_table(spark, runs, table):
    """The table of all runs, without rows where all are of versions that did not have it."""
    from pyspark.errors import AnalysisException

    schema = f"{TABLES[table]}, {FOLDERS}"
    try:
        return spark.read.schema(schema).parquet(f"{runs.rstrip('/')}/{table}")
    except AnalysisException as error:
        if table not in LATER_TABLES or error.getErrorClass() != "PATH_NOT_FOUND":
            raise
        return spark.createDataFrame([], schema)


def find_hidden_host(spark, runs):
    """The folder of a host that Java passes over without a word, if there is one: it does so with names that it
    cannot decode by the locale."""
    url = urllib.parse.urlsplit(runs)
    is_utf_8 = spark.sparkContext._jvm.java.lang.System.getProperty("sun.jnu.encoding") == "UTF-8"
    if is_utf_8 or url.scheme not in ("", "file"):
        return None
    folder = pathlib.Path(urllib.parse.unquote(url.path) if url.scheme else runs)
    return next((host for host in folder.glob("runs/day=*/host=*") if not host.name.isascii()), None)


def create_views(spark, runs, since, until):
    """The tables as views of their names, with the days that are asked for."""
    from pyspark.sql.functions import col, lit

    for table in TABLES:
        rows = read_table(spark, runs, table)
        if since:
            rows = rows.where(col("day") >= lit(since))
        if until:
            rows = rows.where(col("day") <= lit(until))
        rows.createOrReplaceTempView(table)
    spark.sql(STACKS).createOrReplaceTempView("stacks")


def print_rows(rows, as_json):
    if as_json:
        for row in rows.toLocalIterator():
            print(json.dumps(row.asDict(), default=str))
        return
    texts = [rows.columns, *([str(value) for value in row] for row in rows.toLocalIterator())]
    widths = [max(map(len, column)) for column in zip(*texts)]
    for row in texts:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def main():
    arguments = parse_arguments()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    name = f"locktrace {arguments.question.stem}"
    spark = SparkSession.builder.appName(name).config(map=SETTINGS).getOrCreate()
    try:
        if hidden := find_hidden_host(spark, arguments.runs):
            sys.exit(f"{hidden}: Java cannot see it by the locale: set LC_ALL=C.UTF-8")
        create_views(spark, arguments.runs, arguments.since, arguments.until)
        rows = spark.sql(with_variables(arguments.question_text, dict(arguments.set)))
        if arguments.explain:
            with contextlib.redirect_stdout(sys.stderr):
                rows.explain("formatted")
        print_rows(rows, arguments.json)
    except PySparkException as error:
        sys.exit(f"{arguments.question}: {error}")
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
