#!/usr/bin/env bash
# How fast `trodden instrument` is, beside JaCoCo's offline instrumenter and a bare reading and writing with ASM: MB of class
# bytes per second of wall time, from jar to jar. Runs alternate; the median of the rounds is told.
#
#   benchmarks-java/offline/throughput.sh JAR…      with TRODDEN (default: target/release/trodden), ROUNDS (default 5), java and mvn
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
trodden="${TRODDEN:-$here/../../target/release/trodden}"
rounds="${ROUNDS:-5}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
fetch() { mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$1" -DoutputDirectory="$work/tools"; }
fetch org.ow2.asm:asm:9.7.1
fetch org.jacoco:org.jacoco.cli:0.8.12:jar:nodeps
asm="$(echo "$work"/tools/asm-*.jar)"
jacoco="$(echo "$work"/tools/org.jacoco.cli-*.jar)"
javac -cp "$asm" -d "$work" "$here/AsmCopy.java"

seconds() { local begin="$EPOCHREALTIME"; "$@" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
            local end="$EPOCHREALTIME"; awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }'; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

echo "| jar | class MB | trodden, 1 thread | trodden, all | JaCoCo offline | ASM copy, cold | ASM copy, warm (20th round) |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for jar in "$@"; do
    mb="$(unzip -lv "$jar" '*.class' | awk '$NF ~ /\.class$/ { n += $1 } END { print n / 1e6 }')"
    for name in one all jacoco cold warm; do : > "$work/$name"; done
    for ((i = 0; i < rounds; i++)); do
        seconds env RAYON_NUM_THREADS=1 "$trodden" instrument "$jar" --strip-signatures --probe counters -o "$work/out.jar" >> "$work/one"
        seconds "$trodden" instrument "$jar" --strip-signatures --probe counters -o "$work/out.jar" >> "$work/all"
        rm -rf "$work/jacoco-out"
        seconds java -jar "$jacoco" instrument "$jar" --dest "$work/jacoco-out" >> "$work/jacoco"
        seconds java -cp "$work:$asm" AsmCopy "$jar" 1 "$work/out.jar" >> "$work/cold"
        java -cp "$work:$asm" AsmCopy "$jar" 20 "$work/out.jar" | tail -1 >> "$work/warm"
    done
    row="| $(basename "$jar") | $(printf %.1f "$mb") |"
    for name in one all jacoco cold warm; do
        row="$row $(awk -v mb="$mb" -v s="$(median < "$work/$name")" 'BEGIN { printf "%.1f", mb / s }') |"
    done
    echo "$row"
done
