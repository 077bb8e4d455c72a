"""Holds what `trodden coverage --tests-for FILE:LINE` says against each test run alone, under JaCoCo.

check.py CHECKOUT KEPT CLASSPATH AGENT CLI CONSOLE OUT [SEED]: the library (compiled), the folder of `trodden gate record --keep`, its
tests' class path, JaCoCo's agent and command line, JUnit's console launcher. Writes a line for each pair of a line and a test: whether the test alone ran
it, whether Trodden says so. Forty tests, thirty lines: half of those that any of these tests ran, half of all.
"""
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

checkout, kept, classpath, agent, cli, console, out = sys.argv[1:8]
random.seed(int(sys.argv[8]) if len(sys.argv) > 8 else 1)
gate = open(kept.rstrip("/") + ".gate").read()
tests = [line.split("\t")[4] for line in gate.splitlines() if line.startswith("test\t")]
tests = [test for test in tests if re.fullmatch(r"[\w.$]+\.\w+\(\)", test)]
tests = sorted(random.sample(sorted(set(tests)), 40))

ran = {}  # line -> tests that ran it alone
every = set()
for test in tests:
    subprocess.run(["rm", "-f", "one.exec", "one.xml"])
    owner, method = test[:-2].rsplit(".", 1)
    command = ["java", f"-javaagent:{agent}=destfile=one.exec", "-jar", console, "execute", "--disable-banner", "--details=summary",
               "-cp", classpath, "--select-method", f"{owner}#{method}"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    if "[         1 tests successful      ]" not in done.stdout:
        sys.exit(f"{test}: {done.stdout}{done.stderr}")
    subprocess.run(["java", "-jar", cli, "report", "one.exec", "--classfiles", "target/classes", "--xml", "one.xml"],
                   cwd=checkout, check=True, capture_output=True)
    text = open(f"{checkout}/one.xml").read()
    for package in xml.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", text)).iter("package"):
        for file in package.iter("sourcefile"):
            for line in file.iter("line"):
                place = f"{package.get('name')}/{file.get('name')}:{line.get('nr')}"
                every.add(place)
                if int(line.get("ci")) > 0:
                    ran.setdefault(place, set()).add(test)

some = random.sample(sorted(ran), 15)
lines = sorted(some + random.sample(sorted(every - set(some)), 15))
with open(out, "w") as table:
    table.write("line\ttest\talone\ttrodden\n")
    for place in lines:
        said = subprocess.run(["trodden", "coverage", kept, "--tests-for", place], capture_output=True, text=True).stdout
        given = set(re.findall(r"^ +[\d,]+ ×  (\S+)", said, re.M))
        for test in tests:
            alone = test in ran.get(place, ())
            table.write(f"{place}\t{test}\t{int(alone)}\t{int(test in given)}\n")
