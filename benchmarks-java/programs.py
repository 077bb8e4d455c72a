"""What the scripts that measure long runs share: how to start a kernel or an application, and how to read what came of it.

They run in benchmarks-java/, after `trodden-bench fetch` and `build`.
"""
import json, pathlib, subprocess

# As in harness/src/workload.rs.
INPUTS = {"javac": "sources/commons-lang3", "ecj": "sources/commons-lang3", "closure": "scripts", "lucene": "sources",
          "scala": "sources/scala-library", "kotlin": "sources/kotlinpoet"}


def version(jdk):
    """Of the JDK in a folder."""
    return next(line.split('"')[1] for line in open(jdk + "/release") if line.startswith("JAVA_VERSION="))


def agent_flag(library, options, profile):
    """Profiles with these options from the start of the JVM."""
    return f"-agentpath:{library}=start,{options},quiet=true,file={profile}"


def command(jdk, name, iterations, *flags):
    """Runs a kernel or an application: so many iterations, none of them before the first one that is told."""
    java = [jdk + "/bin/java", "-Xmx1g", *flags]
    drivers = {p.stem.lower().removesuffix("driver"): p.stem
               for p in pathlib.Path("drivers/src/trodden/drivers").glob("*Driver.java")}
    counts = ["--warmup", "0", "--iterations", str(iterations)]
    if name not in drivers:
        return java + ["-cp", "build/kernels", "trodden.kernels.Main", *counts, name]
    inputs = []
    if name in INPUTS:
        folder, _, part = INPUTS[name].partition("/")
        inputs = sorted(str(p) for p in pathlib.Path("apps", folder).glob(part + "*"))
    return java + ["-cp", f"build/drivers/{name}:apps/{name}/*", f"trodden.drivers.{drivers[name]}", *counts, *inputs]


def iterations(command, name, processor=None):
    """Runs a command, if need be on one processor. One `(number, nanoseconds, processor nanoseconds, checksum)` per iteration."""
    pinned = [] if processor is None else ["taskset", "-c", str(processor)]
    done = subprocess.run(pinned + command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr}")
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(name)]
    return [(int(number), int(wall), int(cpu), check) for _, number, wall, cpu, check in lines]


def told(trodden, *words):
    """What a `trodden` command says as JSON."""
    done = subprocess.run([trodden, *words, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
