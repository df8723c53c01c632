#!/usr/bin/env python3
"""Asks the questions of fleet/ over 220 runs and 20 million rows of blame, on a Spark cluster of this machine.

Programs are traced, some in two versions, and `magnify` repeats each trace until it is long enough, for two days.
Each of these long traces is exported for ten hosts, unchanged, so ten times what `locktrace` says of it is exactly what
the hosts together have. That is the truth here: `locktrace report`, `contentions` and `lock-order` over the
very traces that were exported, and for the order of locks what the program itself printed.

Spark has to find the same with one worker, with two, and with two of which one is killed meanwhile.
scripts/test-fleet.sh runs it.
"""

import argparse
import collections
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPARK = ROOT / "build/test-spark-3/pyspark"
BEFORE, AFTER = "2.7.0", "2.7.1"
DAYS = [datetime.date(2026, 3, 1), datetime.date(2026, 3, 2)]
# The programs to trace, and their releases: some in two versions, and one that nests two locks, in
# the opposite order in the later release.
ROUNDS = 5
PROGRAMS = {
    **{
        f"{program}-{version}": (["scenarios.WhatIf", program, version, 6, 200, "sleep"], release)
        for program in ("split", "removed", "next-lock", "read-write")
        for version, release in (("before", BEFORE), ("after", AFTER))
    },
    **{
        f"nested-{outer}": (["scenarios.Inversions", ROUNDS, outer], release)
        for outer, release in (("first", BEFORE), ("second", AFTER), ("both", AFTER))
    },
}
# One in this many waits is a long one.
RARITY = 500
# Memory of each process; five have to fit into the machine.
WORKER_MEMORY = "1500m"
# Double numbers are added in an order of the engine's own.
TOLERANCE = 1e-9


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


@dataclasses.dataclass(frozen=True)
class Trace:
    """A long trace."""

    file: pathlib.Path
    program: str
    release: str
    day: datetime.date
    copies: int


class Fleet:
    """Traces, their tables for many hosts, and what has to be found in them."""

    def __init__(self, folder, arguments):
        self.folder = folder
        self.arguments = arguments
        self.classes = folder / "classes"
        self.runs = folder / "runs"
        self.traces = []
        self.reports = {}
        # The output of each program.
        self.printed = {}

    def make(self):
        self.compile()
        for program in PROGRAMS:
            self.trace(program)
        for trace in self.traces:
            for host in self.hosts(trace):
                self.export(trace.file, "--nestings", "--host", host, "--release", trace.release, "-o", self.runs)
            by_owner = ["report", "--all", "--by", "lock-class,owner-method", "--format", "json"]
            self.reports[trace] = json.loads(self.locktrace(*by_owner, trace.file))

    def compile(self):
        self.classes.mkdir()
        sources = ROOT / "test/jvm"
        programs = [sources / "scenarios" / f"{program}.java" for program in ("WhatIf", "Inversions")]
        run(self.arguments.jdk / "bin/javac", "-nowarn", "-d", self.classes, "-sourcepath", sources, *programs)

    def trace(self, program):
        """Traces a program, and makes a long trace of it for each day, all of which have about as many rows."""
        command, release = PROGRAMS[program]
        short = self.folder / f"{program}.lct"
        flags = ["-XX:+TraceLockContention", f"-XX:LockContentionTraceFile={short}"]
        self.printed[program] = run(self.arguments.jdk / "bin/java", *flags, "-cp", self.classes, *command)
        rows_wanted = self.arguments.rows / (len(PROGRAMS) * len(DAYS) * self.arguments.hosts)
        copies = -int(-rows_wanted // self.rows_of(short))
        for day in DAYS:
            long = self.folder / f"{program}-{day}.lct"
            start = datetime.datetime.combine(day, datetime.time(12), datetime.timezone.utc)
            options = ["--copies", copies, "--start-unix-ns", int(start.timestamp()) * 10**9]
            run(self.arguments.magnify, short, long, *options)
            self.traces.append(Trace(long, program, release, day, copies))

    def rows_of(self, trace):
        with tempfile.TemporaryDirectory() as tables:
            self.export(trace, "-o", tables)
            return count(pathlib.Path(tables) / "blame")

    def hosts(self, trace):
        """The same ones on both days."""
        return [f"{trace.program}-{number}" for number in range(self.arguments.hosts)]

    def export(self, trace, *options):
        self.locktrace("export", "--to", "parquet", trace, *options)

    def locktrace(self, *command):
        return run(self.arguments.locktrace, *command)

    def blocked_ns(self, trace):
        """By class of the lock and owner's method: how long it blocked others, in one run."""
        return {
            (lock["key"], owner["key"]): owner["duration_ns"]
            for lock in self.reports[trace]["tree"]
            for owner in lock["children"]
            # Others are no code: nobody, or not known who.
            if not owner["key"].startswith("<")
        }

    def expected_owners(self):
        """By release, day, class of the lock and owner's method: hosts, and seconds that it blocked others, in all and
        an hour."""
        hosts, blocked_ns, traced_ns = collections.Counter(), collections.Counter(), collections.Counter()
        for trace in self.traces:
            traced_ns[trace.release, trace.day] += self.reports[trace]["trace"]["duration_ns"] * self.arguments.hosts
            for code, ns in self.blocked_ns(trace).items():
                hosts[trace.release, trace.day, *code] += self.arguments.hosts
                blocked_ns[trace.release, trace.day, *code] += ns * self.arguments.hosts
        return {
            (release, str(day), *code): (
                hosts[release, day, *code],
                ns / 1e9,
                ns / traced_ns[release, day] * 3600,
            )
            for (release, day, *code), ns in blocked_ns.items()
        }

    def expected_difference(self):
        """By class of the lock and owner's method: seconds an hour before and after, and the interval."""
        rates = {BEFORE: [], AFTER: []}
        for trace in self.traces:
            hours = self.reports[trace]["trace"]["duration_ns"] / 3.6e12
            rate = {code: ns / 1e9 / hours for code, ns in self.blocked_ns(trace).items()}
            rates[trace.release] += [rate] * self.arguments.hosts
        expected = {}
        for code in {code for release in rates.values() for rate in release for code in rate}:
            (before, before_variance), (after, after_variance) = (
                mean_and_its_variance([rate.get(code, 0) for rate in release]) for release in rates.values()
            )
            half_width = 1.96 * (before_variance + after_variance) ** 0.5
            difference = after - before
            expected[code] = (before, after, difference, difference - half_width, difference + half_width)
        return expected

    def expected_long_waits(self):
        """How many milliseconds a long wait takes at least; and how often each host had which: the class of the lock,
        nanoseconds, and how many waits of this code were long, and how many there were."""
        waits = []
        for trace in self.traces:
            durations_ns = collections.Counter()
            codes = {}
            for line in self.locktrace("contentions", trace.file, "--format", "jsonl").splitlines():
                part = json.loads(line)
                wait = part["wait_id"]
                durations_ns[wait] += part["duration_ns"]
                method = part["chain"][0]
                codes[wait] = (class_of(part), method["class"], method["method"], method["signature"])
            waits += [(ns, trace, codes[wait]) for wait, ns in durations_ns.items()]
        durations = sorted((ns for ns, *_ in waits), reverse=True)
        least_ms = -(-durations[len(durations) // RARITY] // 10**6)
        long_waits = [wait for wait in waits if wait[0] >= least_ms * 10**6]
        all_of_code, long_of_code = (
            collections.Counter(code for *_, code in some) for some in (waits, long_waits)
        )
        expected = collections.Counter()
        for ns, trace, code in long_waits:
            counts = (long_of_code[code] * self.arguments.hosts, all_of_code[code] * self.arguments.hosts)
            for host in self.hosts(trace):
                expected[host, code[0], ns, *counts] += 1
        return least_ms, expected

    def expected_orders(self):
        """By two classes whose locks were nested in both orders: runs with an inversion, and of each order how often it
        was, in how many runs, on how many hosts, and for how many seconds others were blocked."""
        times, runs, blocked_ns = collections.Counter(), collections.Counter(), collections.Counter()
        programs = collections.defaultdict(set)
        inverted_runs = collections.Counter()
        for trace in self.traces:
            said = json.loads(self.locktrace("lock-order", trace.file, "--top", 0, "--format", "json"))
            orders = collections.Counter()
            for nesting in said["nestings"]:
                order = (class_of(nesting["outer"]), class_of(nesting["inner"]))
                orders[order] += nesting["times"]
                blocked_ns[order] += nesting["blocked_ns"] * self.arguments.hosts
            own = {order: times for order, times in orders.items() if order[0].startswith("scenarios.Inversions$")}
            check(own == self.printed_orders(trace), f"{trace.file}: {own} nested")
            for order, of_run in orders.items():
                times[order] += of_run * self.arguments.hosts
                runs[order] += self.arguments.hosts
                programs[order].add(trace.program)
            for inversion in said["inversions"]:
                classes = tuple(sorted(map(class_of, inversion["locks"])))
                inverted_runs[classes] += self.arguments.hosts
        return {
            (one, other): (
                inverted_runs[one, other],
                *(
                    value
                    for order in ((one, other), (other, one))
                    for value in (
                        times[order],
                        runs[order],
                        len(programs[order]) * self.arguments.hosts,
                        blocked_ns[order] / 1e9,
                    )
                ),
            )
            for one, other in times
            if one < other and (other, one) in times
        }

    def printed_orders(self, trace):
        """How often the program nested locks, as it said itself."""
        began = [line.split() for line in self.printed[trace.program].splitlines() if line.startswith("began ")]
        orders = collections.Counter((outer, inner) for _, outer, inner, *_ in began)
        return {order: times * trace.copies for order, times in orders.items()}


def class_of(lock):
    """As tables call it."""
    mirrored = lock.get("mirrored_class")
    return f"Class of {mirrored}" if mirrored else lock["lock_class"]


def mean_and_its_variance(values):
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    return mean, squares / (len(values) - 1) / len(values)


def count(table):
    import duckdb

    return duckdb.sql(f"select count(*) from '{table}/*/*/*/*.parquet'").fetchall()[0][0]


def bytes_of(folder):
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


class Cluster:
    """A master and workers of Spark, each in a process group of its own, ended with the context."""

    def __init__(self, folder, workers, arguments):
        self.folder = folder
        self.arguments = arguments
        self.environment = {
            **os.environ,
            "JAVA_HOME": str(arguments.stock_jdk),
            "PYTHONPATH": str(SPARK.parent),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "512m",
        }
        self.processes = contextlib.ExitStack()
        self.workers = [None] * workers
        self.url = None

    def __enter__(self):
        with contextlib.ExitStack() as started:
            self.processes = started
            port = free_port()
            self.url = f"spark://127.0.0.1:{port}"
            self.start("master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", free_port())
            for number in range(len(self.workers)):
                options = ["--cores", 1, "--memory", "2g", "--host", "127.0.0.1", "--webui-port", free_port()]
                self.workers[number] = self.start("worker.Worker", *options, self.url)
            self.processes = started.pop_all()
        return self

    def __exit__(self, *_):
        self.processes.close()

    def start(self, name, *options):
        log = open(self.folder / f"{name}-{time.monotonic_ns()}.log", "w")
        process = subprocess.Popen(
            [SPARK / "bin/spark-class", f"org.apache.spark.deploy.{name}", *map(str, options)],
            env=self.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.processes.callback(end, process)
        return process

    def ask(self, runs, question, *options, meanwhile=None):
        """Rows, how many seconds that took, what Spark says of its plan, and its log of events."""
        events = self.folder / f"events-{time.monotonic_ns()}"
        events.mkdir()
        ui = free_port()
        settings = {
            "spark.executor.memory": WORKER_MEMORY,
            "spark.driver.memory": "1g",
            "spark.cores.max": len(self.workers),
            "spark.scheduler.minRegisteredResourcesRatio": 1.0,
            "spark.sql.shuffle.partitions": 16,
            # More tasks than there are workers, so that there is a middle to kill one in.
            "spark.sql.files.maxPartitionBytes": "32m",
            "spark.ui.port": ui,
            "spark.ui.showConsoleProgress": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.as_uri(),
        }
        settings = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        command = [SPARK / "bin/spark-submit", "--master", self.url, *settings, ROOT / "fleet/ask.py"]
        command += ["--runs", runs, "--json", "--explain", *options, question]
        begun = time.monotonic()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            job = subprocess.Popen(
                list(map(str, command)), env=self.environment, stdout=out, stderr=errors, start_new_session=True
            )
            try:
                if meanwhile:
                    meanwhile(job, ui)
                job.wait(timeout=1800)
            finally:
                end(job)
            out.seek(0)
            errors.seek(0)
            # spark-submit passes the plan on with the rows.
            said = out.read().splitlines()
            if job.returncode:
                sys.exit(f"{question}: exit code {job.returncode}\n{said}\n{errors.read()}")
            rows = [json.loads(line) for line in said if line.startswith("{")]
            plan = "\n".join(line for line in said if not line.startswith("{"))
        seconds = time.monotonic() - begun
        log = [json.loads(line) for file in events.iterdir() for line in file.open()]
        return rows, seconds, plan, log

    def kill_a_worker(self, job, ui):
        """Kills a worker and its executor as soon as tasks have ended."""
        api = f"http://127.0.0.1:{ui}/api/v1/applications"
        while job.poll() is None:
            with contextlib.suppress(OSError, ValueError, IndexError):
                application = get(api)[0]["id"]
                stages = get(f"{api}/{application}/stages?status=active")
                if any(stage["numCompleteTasks"] >= 2 and stage["inputBytes"] > 1 << 20 for stage in stages):
                    end(self.workers[0])
                    return
            time.sleep(0.1)
        sys.exit("the job ended before a worker could be killed")


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.load(answer)


def end(process):
    """Kills a process and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def check_close(found, expected, what):
    for one, other in zip(found, expected, strict=True):
        check(abs(one - other) <= TOLERANCE * max(abs(other), 1e-3), f"{what}: {found}, not {expected}")


def check_owners(rows, expected):
    found = {(row["release"], row["day"], row["lock_class"], row["owner_method"]): row for row in rows}
    check(found.keys() == expected.keys(), f"owners: {found.keys() ^ expected.keys()}")
    for code, row in found.items():
        values = (row["hosts"], row["blocked_seconds"], row["blocked_seconds_per_hour"])
        check_close(values, expected[code], code)


def check_difference(rows, expected):
    found = {(row["lock_class"], row["owner_method"]): row for row in rows}
    check(found.keys() == expected.keys(), f"difference: {found.keys() ^ expected.keys()}")
    for code, row in found.items():
        columns = ("before_per_hour", "after_per_hour", "difference", "least", "most")
        check_close([row[column] for column in columns], expected[code], code)


def check_long_waits(rows, expected):
    columns = ("long_waits_of_code", "waits_of_code")
    found = collections.Counter(
        (row["host"], row["lock_class"], round(row["waited_ms"] * 1e6), *(row[column] for column in columns))
        for row in rows
    )
    check(found == expected, f"long waits: {len(found - expected)} too many, {len(expected - found)} missing")
    rarities = [row["long_waits_of_code"] / row["waits_of_code"] for row in rows]
    check(rarities == sorted(rarities), "the rarest are not first")


def check_orders(rows, expected):
    found = {(row["first_class"], row["second_class"]): row for row in rows}
    check(found.keys() == expected.keys(), f"orders of locks: {found.keys() ^ expected.keys()}")
    for classes, row in found.items():
        columns = ["inverted_runs"]
        for order in ("", "reverse_"):
            columns += [f"{order}{column}" for column in ("times", "runs", "hosts", "blocked_seconds")]
        check_close([row[column] for column in columns], expected[classes], classes)
        for column in ("owning_stack", "waiting_stack", "reverse_owning_stack", "reverse_waiting_stack"):
            check("scenarios.Inversions.own" in row[column], f"{column}: {row[column]}")


def ends_of_tasks(log):
    return [event for event in log if event["Event"] == "SparkListenerTaskEnd"]


def bytes_read(log):
    tasks = (event.get("Task Metrics") for event in ends_of_tasks(log))
    return sum(task["Input Metrics"]["Bytes Read"] for task in tasks if task)


def executors_of(log):
    return {event["Task Info"]["Executor ID"] for event in ends_of_tasks(log)}


def is_lost(task):
    """Whether a task was running on an executor that was lost, or what it had found was there."""
    return task["Task End Reason"]["Reason"] in ("ExecutorLostFailure", "Resubmitted")


def questions(fleet):
    """For each question its options and what its rows have to be. A row more than there may be would be shown."""

    def question(options, check_rows, expected, count=None):
        rows = (len(expected) if count is None else count) + 1
        return [*options, "--set", f"rows={rows}"], lambda rows: check_rows(rows, expected)

    releases = ["--set", f"before={BEFORE}", "--set", f"after={AFTER}"]
    least_ms, long_waits = fleet.expected_long_waits()
    print(f"{long_waits.total():,} waits of {least_ms} ms and more are long", flush=True)
    return {
        "top-owners.sql": question([], check_owners, fleet.expected_owners()),
        "release-difference.sql": question(releases, check_difference, fleet.expected_difference()),
        "long-waits.sql": question(
            ["--set", f"least_ms={least_ms}"], check_long_waits, long_waits, long_waits.total()
        ),
        "lock-order.sql": question([], check_orders, fleet.expected_orders()),
    }


def test_workers(fleet, arguments, folder, asked, workers):
    """Asks all questions with this number of workers."""
    with Cluster(folder, workers, arguments) as cluster:
        for question, (options, check_rows) in asked.items():
            rows, seconds, _, log = cluster.ask(fleet.runs, question, *options)
            check_rows(rows)
            check(len(executors_of(log) - {"driver"}) == workers, f"{question}: not all workers worked")
            print(f"{question}, workers: {workers}: {seconds:.1f} s, {bytes_read(log) / 1e6:.1f} MB read", flush=True)


def test_one_day(fleet, arguments, folder, size):
    """Asks for one day: Spark's plan says that it leaves out the others, and all columns but those that it needs."""
    day = str(DAYS[0])
    expected = {code: value for code, value in fleet.expected_owners().items() if code[1] == day}
    with Cluster(folder, 2, arguments) as cluster:
        options = ["--since", day, "--until", day, "--set", f"rows={len(expected) + 1}"]
        rows, _, plan, log = cluster.ask(fleet.runs, "top-owners.sql", *options)
    check_owners(rows, expected)
    check("PartitionFilters: [isnotnull(day" in plan, f"no days are left out: {plan}")
    columns = "wait:bigint,kind:string,lock_class:string,owner:string,owner_method:string,duration_ns:bigint"
    check(f"ReadSchema: struct<{columns}>" in plan, f"other columns are read: {plan}")
    read = bytes_read(log)
    check(read < size / len(DAYS), f"read {read} bytes of {size}")
    print(f"top-owners.sql, one day of {len(DAYS)}: {read / 1e6:.1f} MB read", flush=True)


def test_killed_worker(fleet, arguments, folder, asked):
    """Kills one of two workers while they answer a question."""
    options, check_rows = asked["top-owners.sql"]
    with Cluster(folder, 2, arguments) as cluster:
        rows, seconds, _, log = cluster.ask(fleet.runs, "top-owners.sql", *options, meanwhile=cluster.kill_a_worker)
    check_rows(rows)
    lost = sum(map(is_lost, ends_of_tasks(log)))
    check(lost > 0, "no task was lost")
    print(f"top-owners.sql, one worker of 2 killed: {seconds:.1f} s, {lost} tasks lost, the same rows", flush=True)


def test(fleet, arguments, folder):
    rows = count(fleet.runs / "blame")
    runs = count(fleet.runs / "runs")
    size = bytes_of(fleet.runs)
    print(f"{runs} runs, {rows:,} rows of blame, {size / 1e6:,.0f} MB of tables", flush=True)
    for table in sorted(fleet.runs.iterdir()):
        print(f"  {table.name}: {bytes_of(table) / 1e6:,.1f} MB", flush=True)
    check(runs == len(fleet.traces) * arguments.hosts, "runs are missing")
    check(arguments.rows <= rows <= 1.1 * arguments.rows, f"{rows} rows are not as many as were wanted")
    asked = questions(fleet)
    for workers in (1, 2):
        test_workers(fleet, arguments, folder, asked, workers)
    test_one_day(fleet, arguments, folder, size)
    test_killed_worker(fleet, arguments, folder, asked)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locktrace", type=pathlib.Path, default=ROOT / "build/bin/locktrace")
    parser.add_argument("--magnify", type=pathlib.Path, default=ROOT / "target/release/magnify")
    parser.add_argument("--jdk", type=pathlib.Path, default=os.environ.get("LOCKTRACE_JDK", ROOT / "build/jdk"))
    parser.add_argument("--stock-jdk", type=pathlib.Path, default=os.environ.get("LOCKTRACE_JDK_STOCK", ROOT / "build/jdk-stock"))
    parser.add_argument("--rows", type=int, default=20_000_000, help="of blame, at least, and at most a tenth more")
    parser.add_argument("--hosts", type=int, default=10, help="for each trace")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/test-fleet")
    arguments = parser.parse_args()
    # Spark takes addresses of files.
    folder = arguments.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fleet = Fleet(folder, arguments)
    fleet.make()
    test(fleet, arguments, folder)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
