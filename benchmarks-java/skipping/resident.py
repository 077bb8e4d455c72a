#!/usr/bin/env python3
"""Memory of programs without a profiler and with it (OSP's table 4), beside a running `trodden-bench run`.

    resident.py --label LABEL --out FILE.csv        looks at the JVMs of that run until it ends (start it before or after)
    resident.py --table FILE.csv…                   prints the table

Looked at is VmHWM in /proc, the most memory of the process that was ever resident, five times a second; the last value of each JVM
counts. It is the whole JVM's: heap (as the collector sizes it by itself), class data, compiled code, the agent. JVMs are told apart by their
command lines: without an agent `base`, with samples at a distance of 2,000,000,000 `probes-idle`, else `probes`.
"""
import argparse, csv, pathlib, re, statistics, sys, time


def read(path):
    try:
        return pathlib.Path(path).read_bytes().decode(errors="replace")
    except OSError:
        return ""


def harness(label):
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        words = read(process / "cmdline").split("\0")
        if "run" in words and label in words and words[0].endswith("trodden-bench"):
            return process
    return None


def what(words):
    """JDK, program and configuration of a JVM."""
    agent = next((word for word in words if word.startswith("-agentpath:")), "")
    config = "base" if not agent else "probes-idle" if "distance=2000000000" in agent else "probes"
    program = "javac" if any(word.endswith("JavacDriver") for word in words) else [word for word in words if word][-1]
    for word in words:
        if word.endswith("Main"):
            # Options follow the kernel's name, or stand before it.
            program = next(w for w in words[words.index(word) + 1:] if re.fullmatch("[a-z]+", w))
    version = re.search('JAVA_VERSION="([^"]+)"', read(pathlib.Path(words[0]).parent.parent / "release"))
    return version.group(1) if version else "?", program, config


def watch(label, out):
    while not (process := harness(label)):
        time.sleep(0.5)
    seen = {}
    while (process / "cmdline").exists() and read(process / "cmdline"):
        for task in (process / "task").glob("*"):
            for child in read(task / "children").split():
                words = read(f"/proc/{child}/cmdline").split("\0")
                peak = re.search(r"VmHWM:\s+(\d+) kB", read(f"/proc/{child}/status"))
                if words[0].endswith("/java") and peak:
                    seen[child] = [*what(words), int(peak.group(1))]
        time.sleep(0.2)
    with open(out, "w") as file:
        rows = csv.writer(file)
        rows.writerow(["jdk", "workload", "config", "kib"])
        rows.writerows(seen.values())


def table(files):
    rows = [row for file in files for row in csv.DictReader(open(file))]
    print("| program, JDK | no agent | `probes` | more | `probes-idle` |\n| --- | ---: | ---: | ---: | ---: |")
    for jdk, name in sorted(dict.fromkeys((row["jdk"], row["workload"]) for row in rows), key=lambda key: int(key[0].split(".")[0])):
        values = lambda config: [int(row["kib"]) / 1024 for row in rows if (row["jdk"], row["workload"], row["config"]) == (jdk, name, config)]
        cell = lambda config: f"{statistics.median(values(config)):.1f} ({min(values(config)):.1f} to {max(values(config)):.1f})"
        more = statistics.median(values("probes")) - statistics.median(values("base"))
        print(f"| {name}, {jdk.split('.')[0]} | {cell('base')} | {cell('probes')} | {more:+.1f} | {cell('probes-idle')} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--label")
    parser.add_argument("--out")
    parser.add_argument("--table", nargs="+")
    args = parser.parse_args()
    if args.table:
        table(args.table)
    elif args.label and args.out:
        watch(args.label, args.out)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
