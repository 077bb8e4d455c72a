"""How many tests `trodden tests --changed` names for a change of one line: changed.py CHECKOUT KEPT OUT. Sixty of the lines in OUT.lines,
PACKAGE/FILE:NUMBER each: lines with code, by JaCoCo's report.
"""
import random
import re
import subprocess
import sys

checkout, kept, out = sys.argv[1:4]
random.seed(2)
lines = sorted({line.strip() for line in open(out + ".lines")})
lines = random.sample(lines, 60)
with open(out, "w") as table:
    table.write("line\ttests\tof\twhy all\n")
    for place in lines:
        file, number = place.rsplit(":", 1)
        file = "src/main/java/" + file
        text = open(f"{checkout}/{file}").read().split("\n")[int(number) - 1]
        diff = f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -{number},1 +{number},1 @@\n-{text}\n+{text} //\n"
        done = subprocess.run(["trodden", "tests", kept, "--changed", "-"], input=diff, capture_output=True, text=True)
        if done.returncode: sys.exit(done.stderr)
        of = re.search(r"of ([\d,]+)", done.stderr)
        why = re.search(r"all tests: (.*)", done.stderr)
        table.write(f"{place}\t{len(done.stdout.splitlines())}\t{of[1] if of else ''}\t{why[1] if why else ''}\n")
