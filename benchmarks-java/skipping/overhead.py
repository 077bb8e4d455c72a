#!/usr/bin/env python3
"""OSP's table 2 from raw.csv of `trodden-bench run` with the configurations base, probes and probes-idle.

    overhead.py RUN-FOLDER… > table.md

Ratios are of processor time (all threads of the JVM, all measured iterations of a pair): median of the pairs, least and greatest in brackets.
*Total*: `probes` to `base`. *Skipping*: `probes-idle`, which hardly ever samples, to `base`. *Sampling*: the difference of the two.
"""
import csv, pathlib, statistics, sys

rows = [row for folder in sys.argv[1:] for row in csv.DictReader(open(pathlib.Path(folder, "raw.csv"))) if int(row["iteration"]) >= 0]


def percent(values):
    low, middle, high = (round(100 * value) for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} % ({low} to {high})"


for jdk in sorted({row["jdk"] for row in rows}, key=lambda version: int(version.split(".")[0])):
    print(f"\n**JDK {jdk}**\n\n| program | base, ms | probes, ms | total overhead | skipping alone | sampling overhead |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    totals, idles = [], []
    for name in dict.fromkeys(row["workload"] for row in rows if row["jdk"] == jdk):
        times, walls = {}, {}
        for row in rows:
            if (row["jdk"], row["workload"]) == (jdk, name):
                key = row["config"], row["pair"]
                times[key] = times.get(key, 0) + int(row["cpu_nanos"])
                walls.setdefault(key, []).append(int(row["nanos"]) / 1e6)
        pairs = sorted({pair for _, pair in times})
        pairs = [pair for pair in pairs if all((config, pair) in times for config in ("base", "probes", "probes-idle"))]
        if not pairs:
            continue
        ratio = lambda config: [times[config, pair] / times["base", pair] - 1 for pair in pairs]
        wall = lambda config: statistics.median(statistics.median(walls[config, pair]) for pair in pairs)
        total, idle = ratio("probes"), ratio("probes-idle")
        totals.append(1 + statistics.median(total))
        idles.append(1 + statistics.median(idle))
        sampling = [one - other for one, other in zip(total, idle)]
        print(f"| {name} | {wall('base'):.0f} | {wall('probes'):.0f} | {percent(total)} | {percent(idle)} | {percent(sampling)} |")
    mean = lambda values: f"{100 * (statistics.geometric_mean(values) - 1):.0f} %"
    if totals:
        print(f"| **geometric mean of {len(totals)}** | | | {mean(totals)} | {mean(idles)} | |")
