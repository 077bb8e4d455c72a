#!/usr/bin/env python3
"""What skipping costs: Trodden's probes beside two prototypes (SkippingAgent.java), on the same kernels, interleaved.

    measure.py --agent LIB --asm ASM.jar:ASM-TREE.jar --jdk HOME,… --kernels fft,heapsort,… --pairs N --out FOLDER

Run in benchmarks-java/, after `trodden-bench build`. Each configuration comes twice: as it is, and `-idle`, with samples so far apart that
there are hardly any, so that the difference is what OSP's table 2 calls the sampling overhead. Writes raw.csv (a line per
iteration), samples.txt (what each JVM said it sampled), command.txt and summary.md.
"""
import argparse, csv, json, pathlib, re, statistics, subprocess, sys, tempfile

FAR = 2_000_000_000
CONFIGS = {
    "probes": "profile=subpaths",
    "probes-idle": f"profile=subpaths,distance={FAR}:{FAR}",
    "blocks": "blocks",
    "blocks-idle": "blocks",
    "copies": "copies",
    "copies-idle": "copies",
    "checks": "checks",
    "checks-idle": "checks",
    "local": "local",
    "local-idle": "local",
}


def version(jdk):
    return next(line.split('"')[1] for line in open(jdk + "/release") if line.startswith("JAVA_VERSION="))


def build(args, folder):
    """The agent of the prototypes, by the first JDK; its jar names the class path."""
    here = pathlib.Path(__file__).parent
    jdk = args.jdk.split(",")[0]
    subprocess.run([jdk + "/bin/javac", "--release", "17", "-cp", args.asm, "-d", folder,
                    here / "Skip.java", here / "SkippingAgent.java"], check=True)
    manifest = pathlib.Path(folder, "manifest")
    manifest.write_text("Premain-Class: SkippingAgent\n")
    jar = pathlib.Path(folder, "skipping.jar")
    classes = [p.name for p in pathlib.Path(folder).glob("*.class")]
    subprocess.run([jdk + "/bin/jar", "cfm", jar, manifest, *classes], check=True, cwd=folder)
    return jar


def run(args, jdk, jar, config, kernel, scratch):
    flags = ["-Xmx1g", "-Xshare:auto"]
    profile = f"{scratch}/{config}.trodden"
    if config.startswith("probes"):
        options = CONFIGS[config]
        flags.append(f"-agentpath:{args.agent}=start,{options},include=trodden.kernels.*,quiet=true,file={profile}")
    elif config != "base":
        # There is a check for every few blocks.
        mean = FAR if config.endswith("idle") else 4096 if config == "blocks" else 4096 // 3
        flags += [f"-Dskip.mean={mean}", f"-javaagent:{jar}={CONFIGS[config]},trodden/kernels/"]
    done = subprocess.run([jdk + "/bin/java", *flags, "-cp", f"{args.classes}:{jar}:{args.asm}", "trodden.kernels.Main",
                           "--warmup", str(args.warmup), "--iterations", str(args.iterations), kernel],
                          capture_output=True, text=True)
    if done.returncode or config != "base" and not config.startswith("probes") and "skipping:" not in done.stderr:
        sys.exit(f"{kernel} {config}: {done.stdout}{done.stderr}")
    told = re.findall(r"skipping: (.*)", done.stderr)
    if config.startswith("probes"):
        about = json.loads(subprocess.run([args.trodden, "report", profile, "--format", "json", "--top", "1"],
                                          capture_output=True, text=True, check=True).stdout)["subpaths"]
        told = [f"{about['drawn']} samples, {about['drawn_blocks']} blocks, {about['distinct']} different kept, of {about['blocks']} blocks"]
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(kernel)]
    return [(int(n), int(wall), int(cpu), check) for _, n, wall, cpu, check in lines], told


def main():
    parser = argparse.ArgumentParser()
    for name in ("agent", "trodden", "asm", "jdk", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--kernels", default="fft,heapsort,moldyn,raytracer,lexergen")
    parser.add_argument("--classes", default="build/kernels")
    parser.add_argument("--configs", default=",".join(CONFIGS))
    for name, value in (("first-pair", 0), ("pairs", 4), ("warmup", 5), ("iterations", 5)):
        parser.add_argument("--" + name, type=int, default=value)
    args = parser.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    command = " ".join(sys.argv[1:])
    for path, word in ((args.agent, "LIB"), (args.trodden, "TRODDEN"), (args.asm, "ASM"), (args.classes, "CLASSES"), (args.out, "OUT")):
        command = command.replace(path, word)
    for jdk in args.jdk.split(","):
        command = command.replace(jdk, "JDK" + version(jdk).split(".")[0])
    with open(out / "command.txt", "a") as file:
        file.write("python3 skipping/measure.py " + command + "\n")
    configs = ["base", *args.configs.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        jar = build(args, scratch)
        first = not (out / "raw.csv").exists()
        raw = csv.writer(open(out / "raw.csv", "a", buffering=1))
        if first:
            raw.writerow(["jdk", "workload", "config", "pair", "iteration", "nanos", "cpu_nanos", "checksum"])
        samples = open(out / "samples.txt", "a", buffering=1)
        for pair in range(args.first_pair, args.first_pair + args.pairs):
            for jdk in args.jdk.split(","):
                for kernel in args.kernels.split(","):
                    checks = set()
                    for config in configs:
                        lines, told = run(args, jdk, jar, config, kernel, scratch)
                        checks |= {check for *_, check in lines}
                        raw.writerows([version(jdk), kernel, config, pair, *line] for line in lines)
                        if pair == args.first_pair:
                            samples.writelines(f"{version(jdk)} {kernel} {config}: {line}\n" for line in told)
                    if len(checks) != 1:
                        sys.exit(f"{kernel}: results differ")
    summarise(out)


def summarise(out):
    """Ratios to `base` of the same pair: processor time of all measured iterations. (Elapsed times are in raw.csv.)"""
    rows = list(csv.DictReader(open(out / "raw.csv")))
    text = ["Ratios to `base` of interleaved JVMs, median of the pairs (least–greatest): processor time of all measured",
            "iterations, compiler and collector included. Results (checksums) were equal everywhere."]
    for jdk in sorted({row["jdk"] for row in rows}, key=lambda v: int(v.split(".")[0])):
        mine = [row for row in rows if row["jdk"] == jdk and int(row["iteration"]) >= 0]
        text += ["", f"## JDK {jdk}", "| workload | base, ms | configuration | processor time | pairs |", "| --- | ---: | --- | --- | ---: |"]
        means = {}
        for kernel in dict.fromkeys(row["workload"] for row in mine):
            values = {}
            for row in (row for row in mine if row["workload"] == kernel):
                values.setdefault((row["config"], row["pair"]), []).append(int(row["cpu_nanos"]))
            pairs = sorted({pair for _, pair in values})
            base = {pair: values["base", pair] for pair in pairs}
            milliseconds = statistics.median(statistics.median(base[pair]) for pair in pairs) / 1e6
            for config in dict.fromkeys(config for config, _ in values):
                if config == "base":
                    continue
                both = [pair for pair in pairs if (config, pair) in values]
                cpu = [sum(values[config, p]) / sum(base[p]) for p in both]
                means.setdefault(config, []).append(statistics.median(cpu))
                spread = f" ({min(cpu):.2f}–{max(cpu):.2f})" if len(cpu) > 1 else ""
                text.append(f"| {kernel} | {milliseconds:.0f} | {config} | {statistics.median(cpu):.2f}{spread} | {len(cpu)} |")
        for config, values in means.items():
            text.append(f"| **geometric mean of {len(values)}** | | {config} | {statistics.geometric_mean(values):.2f} | |")
    (out / "summary.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
