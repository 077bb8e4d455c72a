"""Sums up recordings of unchanged suites: aa.py FOLDER OUT. FOLDER has SUITE-JDK-N.gate."""
import glob, itertools, os, re, subprocess, sys
folder, out = sys.argv[1:3]
groups = {}
for file in sorted(glob.glob(f"{folder}/*.gate")):
    name, jdk, _ = os.path.basename(file)[:-5].rsplit("-", 2)
    groups.setdefault((name, jdk), []).append(file)
print("| suite | JDK | runs | tests | the same in each run | up to 0.01 % | up to 0.5 % | more | false alarms |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
for (name, jdk), files in groups.items():
    tests, why = {}, {}
    for file in files:
        last = None
        for line in open(file):
            f = line.rstrip("\n").split("\t")
            if f[0] == "test":
                last = f[4]
                tests.setdefault(last, []).extend([int(f[1]), int(f[2])])
                if len(f) > 5: why[last] = f[5]
    # Without a line `own` all of a test's work is its own threads'.
    owns = {t: [] for t in tests}
    for file in files:
        last = None; cur = {}
        for line in open(file):
            f = line.rstrip("\n").split("\t")
            if f[0] == "test":
                last = f[4]; cur[last] = [int(f[1]), int(f[2])]
            elif f[0] == "own":
                cur[last] = [int(f[1]), int(f[2])]
        for t, v in cur.items(): owns[t].extend(v)
    def bins(of):
        b = [0, 0, 0, 0]
        for v in of.values():
            s = (max(v) - min(v)) / max(min(v), 1)
            b[0 if s == 0 else 1 if s <= 1e-4 else 2 if s <= 5e-3 else 3] += 1
        return b
    alarms = 0; pairs = list(itertools.permutations(files, 2)); lines = []
    for a, b in pairs:
        done = subprocess.run([os.environ["TRODDEN"], "gate", "compare", a, b, "--fail-on", "0.5%"], capture_output=True, text=True)
        alarms += done.returncode == 3
        lines.append(f"{os.path.basename(a)}\t{os.path.basename(b)}\t{done.returncode}\t{done.stdout.splitlines()[0] if done.stdout else done.stderr}")
        if done.returncode not in (0, 3): sys.exit(done.stderr)
    n = 2 * len(files)
    print(f"| {name} | {jdk} | {n} | {len(tests):,} | " + " | ".join(f"{x:,}" for x in bins(tests)) + f" | {alarms} of {len(pairs)} |")
    print(f"| its own threads alone | {jdk} | {n} | {len(tests):,} | " + " | ".join(f"{x:,}" for x in bins(owns)) + " | |")
    with open(f"{out}/{name}-{jdk}.tsv", "w") as t:
        t.write("test\tleast\tmost\tleast of its own threads\tmost\tdiffers (as one of the files says it)\n")
        for k in sorted(tests):
            t.write(f"{k}\t{min(tests[k])}\t{max(tests[k])}\t{min(owns[k])}\t{max(owns[k])}\t{why.get(k, '')}\n")
    open(f"{out}/{name}-{jdk}-pairs.tsv", "w").write("\n".join(lines) + "\n")
