#!/usr/bin/env python3
"""Measures `profile=structural`: interleaved runs of the same work without an agent, with probes that stay, with probes that are taken
out, with every structural path counted, and with exact Ball-Larus counts.

    measure.py --agent LIB --trodden BINARY --jdk HOME,… --work NAME:ITERATIONS,… --rounds N --out FOLDER [--processors 0,1]

Run in benchmarks-java/, after `trodden-bench fetch` and `build`. NAME is a kernel's or an application's. Writes raw.csv (a line per iteration) and
summary.md. Times are processor time of the whole process; `second half` is that of the second half of the iterations. With `--processors` as many
runs go on at a time as are named, each on one of its own, in turn.
"""
import argparse, csv, pathlib, queue, statistics, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import programs

SCRATCH = tempfile.mkdtemp()
CONFIGS = {
    "base": None,
    "active": "profile=structural,retire=false",
    "structural": "profile=structural",
    "complete": "profile=structural,window=all",
    "counters": "probe=counters",
}


def run(args, jdk, name, iterations, config, free):
    options, profile = CONFIGS[config], f"{SCRATCH}/{config}.trodden"
    flags = [programs.agent_flag(args.agent, options, profile)] if options else []
    processor = free.get()
    try:
        lines = programs.iterations(programs.command(jdk, name, iterations, *flags), name, processor or None)
    finally:
        # Others wait for it, however this ended.
        free.put(processor)
    return {"profile": profile if options else None, "lines": lines}


def percent(value):
    return "–" if value is None else f"{100 * value:.1f}"


def main():
    parser = argparse.ArgumentParser()
    for option in ("agent", "trodden", "jdk", "work", "out"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--processors", default="")
    parser.add_argument("--configs", default=",".join(CONFIGS))
    args = parser.parse_args()
    configs = args.configs.split(",")
    out = pathlib.Path(args.out)
    out.mkdir(parents=True)
    words = " ".join(sys.argv[1:]).replace(args.agent, "LIB").replace(args.trodden, "BINARY").replace(args.out, "FOLDER")
    (out / "command.txt").write_text(f"python3 structural/measure.py {words}\n")
    raw = csv.writer(open(out / "raw.csv", "w", buffering=1))
    raw.writerow(["jdk", "name", "config", "round", "iteration", "nanos", "cpu_nanos", "checksum"])
    head = ["JDK", "program", "base, s CPU"]
    for config in configs[1:]:
        head += [f"{config} / base"] + (["second half"] if config in ("active", "structural") else [])
    head += ["methods retired", "calls", "longest, ms", "whole paths, %", "edge relative, %", "edge absolute, %",
             "structural paths, %", "within graphs, %"]
    table = []
    for jdk in args.jdk.split(","):
        version = programs.version(jdk)
        for entry in args.work.split(","):
            name, iterations = entry.split(":")
            rounds = []
            for number in range(args.rounds):
                processors = args.processors.split(",")
                free = queue.Queue()
                for processor in processors[number % len(processors):] + processors[:number % len(processors)]:
                    free.put(processor)
                with ThreadPoolExecutor(len(processors)) as several:
                    begun = {config: several.submit(run, args, jdk, name, iterations, config, free) for config in configs}
                runs = {config: one.result() for config, one in begun.items()}
                for config, one in runs.items():
                    for line in one["lines"]:
                        raw.writerow([version, name, config, number, *line])
                if len({tuple(line[3] for line in one["lines"]) for one in runs.values()}) != 1:
                    sys.exit(f"{name}: results differ")
                rounds.append(runs)
            def cpu(runs, config, late=False):
                values = [line[2] for line in runs[config]["lines"]]
                return sum(values[len(values) // 2:] if late else values)
            def ratio(config, late=False):
                return statistics.median(cpu(r, config, late) / cpu(r, "base", late) for r in rounds)
            row = [version, name, f"{statistics.median(cpu(r, 'base') for r in rounds) / 1e9:.1f}"]
            for config in configs[1:]:
                row.append(f"{ratio(config):.3f}")
                if config in ("active", "structural"):
                    row.append(f"{ratio(config, True):.3f}")
            last = rounds[-1]
            facts = programs.told(args.trodden, "report", last["structural"]["profile"])["run"]["facts"]
            whole = programs.told(args.trodden, "compare", last["counters"]["profile"], last["structural"]["profile"])
            own = programs.told(args.trodden, "compare", last["complete"]["profile"], last["structural"]["profile"])["structural"]
            row += [facts["methods_estimated"], facts["retransformations"], facts["longest_retransformation_ms"]]
            row += [percent(whole[key]) for key in ("path_accuracy", "edge_relative_overlap", "edge_absolute_overlap")]
            row += [percent(own["path_accuracy"]), percent(own["local_overlap"])]
            table.append(row)
            rows = [head, ["---"] * len(head), *table]
            text = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)
            (out / "summary.md").write_text(
                "Processor time of the whole process, compiler threads included, over all iterations of a JVM from the first one on; medians of "
                f"{args.rounds} interleaved rounds{' of runs two at a time, each on its own processor' if args.processors else ''}. *active*: `{CONFIGS['active']}`; *structural*: `{CONFIGS['structural']}`; *complete*: "
                f"`{CONFIGS['complete']}`. Accuracy of *structural*: whole paths and edges against *counters*, structural paths against *complete*.\n\n"
                + text + "\n")
            print(row, flush=True)


main()
