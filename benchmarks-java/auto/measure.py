#!/usr/bin/env python3
"""Measures `probe=auto` over long runs: interleaved runs without an agent, with `probe=auto` and with `probe=counters`.

    measure.py --agent LIB --trodden BINARY --jdk HOME,… --apps NAME:ITERATIONS,… --rounds N --out FOLDER [--together] [--lock FILE] [--part N]

Run in benchmarks-java/, after `trodden-bench fetch` and `build`. Writes raw.csv (a line per iteration), facts.csv, summary.md and a
plot per application and JDK. Every iteration does the same work, so the exact profile of one run is the yardstick for the other; with `--part N` it
is that of an Nth of the iterations, and nothing is said of the time that `probe=counters` takes.

With `--together`, the run without an agent and that with `probe=auto` go on at the same time, each on a processor of its own, which they change from
one program to the next; that with `probe=counters` comes after both. So both suffer alike from whatever else the machine does. The file of `--lock` is locked exclusively during runs that are timed, and shared during others.
"""
import argparse, contextlib, csv, fcntl, pathlib, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import programs

SCRATCH = tempfile.mkdtemp()


def longest_redefinition(config):
    """Longest safepoint that a retransformation asked for, in ms, by the JVM's own log."""
    longest = 0.0
    for line in open(f"{SCRATCH}/safepoints-{config}.log"):
        if 'RedefineClasses"' in line or "VM_RedefineClasses" in line:
            words = line.replace(",", " ").split()
            longest = max(longest, int(words[words.index("Total:") + 1]) / 1e6)
    return longest


def run(args, jdk, app, iterations, config, processor=None):
    profile = f"{SCRATCH}/{config}.trodden"
    flags = [f"-Xlog:safepoint:file={SCRATCH}/safepoints-{config}.log:uptime:filecount=0"]
    if config != "base":
        flags.append(programs.agent_flag(args.agent, f"probe={config}", profile))
    begin = time.monotonic()
    lines = programs.iterations(programs.command(jdk, app, iterations, *flags), app, processor)
    return {"seconds": time.monotonic() - begin, "profile": profile, "pause": longest_redefinition(config), "lines": lines}


@contextlib.contextmanager
def locked(file, how):
    with contextlib.ExitStack() as stack:
        if file:
            fcntl.flock(stack.enter_context(open(file)), how)
        yield


def plot(file, title, series):
    """Processor time of each iteration against that of the run without an agent, as an SVG."""
    width, height, top = 760, 260, 2.0
    count = max(len(points) for points in series.values())
    x = lambda i: 50 + i * (width - 70) / max(count - 1, 1)
    y = lambda v: 20 + (top - min(v, top)) * (height - 60) / top
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<text x="50" y="14">{title}</text>']
    for value in (0.5, 1.0, 1.5, 2.0):
        out.append(f'<line x1="50" x2="{width - 20}" y1="{y(value)}" y2="{y(value)}" stroke="#ccc"/>'
                   f'<text x="15" y="{y(value) + 4}">{value}</text>')
    for (name, points), color in zip(series.items(), ("#06c", "#c60")):
        line = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(points))
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>')
    out.append(f'<text x="50" y="{height - 8}">iterations, first to last; blue: auto, orange: counters; 1.0: without an agent</text></svg>')
    pathlib.Path(file).write_text("\n".join(out) + "\n")


def timed(args, jdk, app, iterations, processor):
    """Runs without an agent (if together: on that processor) and with `probe=auto`."""
    if not args.together:
        return {config: run(args, jdk, app, iterations, config) for config in ("base", "auto")}
    with ThreadPoolExecutor(2) as both:
        base = both.submit(run, args, jdk, app, iterations, "base", processor)
        auto = both.submit(run, args, jdk, app, iterations, "auto", 1 - processor)
    return {"base": base.result(), "auto": auto.result()}


def main():
    parser = argparse.ArgumentParser()
    for name in ("agent", "trodden", "jdk", "apps", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--lock")
    parser.add_argument("--part", type=int, default=1)
    args = parser.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True)
    (out / "command.txt").write_text("python3 " + " ".join(sys.argv).replace(args.agent, "LIB").replace(args.trodden, "BINARY").replace(args.out, "FOLDER").replace(args.lock or "…", "…") + "\n")
    raw = csv.writer(open(out / "raw.csv", "w", buffering=1))
    raw.writerow(["jdk", "app", "config", "round", "iteration", "nanos", "cpu_nanos", "checksum"])
    facts = csv.writer(open(out / "facts.csv", "w", buffering=1))
    facts.writerow(["jdk", "app", "round", "fact", "value"])
    table = []
    for jdk in args.jdk.split(","):
        version = programs.version(jdk)
        for entry in args.apps.split(","):
            app, iterations = entry.split(":")
            for round in range(args.rounds):
                with locked(args.lock, fcntl.LOCK_EX):
                    runs = timed(args, jdk, app, iterations, (len(table) + round) % 2)
                with locked(args.lock, fcntl.LOCK_SH):
                    exact = max(int(iterations) // args.part, 1)
                    runs["counters"] = run(args, jdk, app, exact, "counters", 1 if args.together else None)
                for config, one in runs.items():
                    for line in one["lines"]:
                        raw.writerow([version, app, config, round, *line])
                if len({line[3] for one in runs.values() for line in one["lines"]}) != 1:
                    sys.exit(f"{app}: results differ")
                accuracy = programs.told(args.trodden, "compare", runs["counters"]["profile"], runs["auto"]["profile"])
                report = programs.told(args.trodden, "report", runs["auto"]["profile"])["run"]["facts"]
                for name, value in {**accuracy, **report}.items():
                    if not isinstance(value, (dict, list)):
                        facts.writerow([version, app, round, name, value])
                cpu = {c: [line[2] for line in one["lines"]] for c, one in runs.items()}
                total = {c: sum(values) for c, values in cpu.items()}
                late = {c: sum(values[len(values) // 2:]) for c, values in cpu.items()}
                series = {c: [a / b for a, b in zip(cpu[c], cpu["base"])] for c in ("auto", "counters")}
                whole = lambda value: f"{value:.3f}" if args.part == 1 else "–"
                plot(out / f"{app}-jdk{version.split('.')[0]}-{round}.svg", f"{app}, JDK {version}: processor time per iteration", series)
                table.append([version, app, f"{runs['base']['seconds']:.0f}", f"{total['base'] / 1e9:.0f}",
                              f"{total['auto'] / total['base']:.3f}", f"{late['auto'] / late['base']:.3f}",
                              whole(total['counters'] / total['base']), whole(late['counters'] / late['base']),
                              f"{runs['auto']['pause']:.0f}", report["longest_retransformation_ms"], report["retransformations"],
                              report["classes_retired"], report["classes_rearmed"], report["recompilations"],
                              *(f"{100 * accuracy[k]:.1f}" for k in ("path_accuracy", "edge_relative_overlap", "edge_absolute_overlap"))])
                head = ["JDK", "app", "base, s elapsed", "base, s CPU", "auto / base", "second half", "counters / base", "second half",
                        "longest safepoint for it, ms", "longest call, ms", "calls", "classes out", "classes back", "recompilations",
                        "path, %", "edge relative, %", "edge absolute, %"]
                rows = [head, ["---"] * len(head), *table]
                text = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)
                (out / "summary.md").write_text(
                    "Processor time of the whole process, compiler threads included, over all iterations of a JVM (from the first one on), and over "
                    "the second half of them.\n\n" + text + "\n")
                print(table[-1], flush=True)


main()
