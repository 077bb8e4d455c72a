#!/usr/bin/env python3
"""Memory of the programs of OSP's table 4, without a profiler and with one.

    memory.py --agent LIB --trodden TRODDEN --jdk HOME --build build --sources apps/sources/….jar --times N --out FILE.csv

Run in benchmarks-java/, after `trodden-bench build` and `fetch`. Per program and time, a JVM each:

* `heap`: no agent: the least heap (`-Xmx`, in whole MiB, serial collector) with which one iteration comes to its end within a minute.
* `base`, `probes`: no agent, and `profile=subpaths`, with the collector's own sizes: the most memory that was ever resident
  (`ru_maxrss` of the process, which is VmHWM).

`probes` also says what its profile tells of the profiler: bytes of the largest sample of a thread, and of what sampling needed besides.
"""
import argparse, csv, json, os, subprocess, sys, tempfile

KERNELS = ["fft", "heapsort", "moldyn", "raytracer", "lexergen"]


def run(command):
    """The output, and the most KiB that were resident."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command}: {child.returncode}")
    return output, usage.ru_maxrss


def least_heap(java, arguments, enough):
    """The least -Xmx in MiB; `enough` is known to do."""
    def does(mib):
        try:
            command = [java, "-XX:+UseSerialGC", f"-Xmx{mib}m", *arguments]
            return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode == 0
        except subprocess.TimeoutExpired:
            return False
    too_little = 1
    while enough - too_little > 1:
        middle = (too_little + enough) // 2
        if does(middle):
            enough = middle
        else:
            too_little = middle
    return enough


def main():
    parser = argparse.ArgumentParser()
    for name in ("agent", "trodden", "jdk", "sources", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--build", default="build")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=1)
    args = parser.parse_args()
    os.environ["LC_ALL"] = "C"
    once = ["--warmup", "0", "--iterations", str(args.iterations)]
    programs = {kernel: (["-cp", f"{args.build}/kernels", "trodden.kernels.Main", *once, kernel], "trodden.kernels.*", 64) for kernel in KERNELS}
    programs["javac"] = (["-cp", f"{args.build}/drivers/javac", "trodden.drivers.JavacDriver", args.sources, *once], "com.sun.tools.javac.*", 512)
    out = csv.writer(open(args.out, "w", buffering=1))
    out.writerow(["program", "configuration", "time", "kib", "sample_bytes", "working_bytes"])
    with tempfile.TemporaryDirectory() as scratch:
        for time in range(args.times):
            for name, (arguments, include, enough) in programs.items():
                java = [args.jdk + "/bin/java", "-XX:+UseSerialGC", "-Xmx1g"]
                if time == 0:
                    kib = 1024 * least_heap(args.jdk + "/bin/java", arguments, enough)
                    out.writerow([name, "heap", time, kib, "", ""])
                _, kib = run([*java, *arguments])
                out.writerow([name, "base", time, kib, "", ""])
                profile = scratch + "/profile.trodden"
                agent = f"-agentpath:{args.agent}=start,profile=subpaths,include={include},quiet=true,file={profile}"
                _, kib = run([*java, agent, *arguments])
                told = subprocess.run([args.trodden, "report", profile, "--format", "json", "--top", "1"], capture_output=True, text=True, check=True)
                about = json.loads(told.stdout)["subpaths"]
                out.writerow([name, "probes", time, kib, about["peak_bytes"], about["working_bytes"]])


if __name__ == "__main__":
    main()
