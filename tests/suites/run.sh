#!/usr/bin/env bash
# Runs the published tests of well-known libraries three times: on the original jar, on an instrumented one without the
# library, and on that with it. The outcome of every single test must be the same.
#
#   tests/suites/run.sh [OUT]      with TRODDEN and LIBTRODDEN (default: target/release), java and mvn on the PATH
#   TRODDEN_SUITES="commons-codec" picks some. The table is printed, and in OUT/table.md.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
out="${1:-$here/../build/suites}"
mkdir -p "$out"
out="$(cd "$out" && pwd)"
trodden="${TRODDEN:-$here/../../target/release/trodden}"
library="${LIBTRODDEN:-$here/../../target/release/libtrodden.so}"
suites="${TRODDEN_SUITES:-commons-codec commons-lang3 commons-collections4}"
jars="$out/jars"
if [ ! -e "$jars/done" ]; then
    mvn -q -B -f "$here/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
        "-DoutputDirectory=$jars"
    touch "$jars/done"
fi
console="$(echo "$jars"/junit-platform-console-standalone-*.jar)"
java="$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p')"
native=()
if [ "$java" -ge 22 ]; then native=(--enable-native-access=ALL-UNNAMED); fi

# Name and outcome of each test, from JUnit's reports.
outcomes() {
    cat "$1"/*.xml | awk '
        /<testcase / { match($0, / name="[^"]*"/); name = substr($0, RSTART, RLENGTH)
                       match($0, / classname="[^"]*"/); name = substr($0, RSTART, RLENGTH) name; what = "passed" }
        /<failure/ { what = "failed" } /<error/ { what = "error" } /<skipped/ { what = "skipped" }
        /<\/testcase>/ || /<testcase .*\/>/ { print name, what }' |
        sed -E 's/@[0-9a-f]{4,}/@/g' | sort
}

run() { # jar, reports, flags…
    local jar="$1" reports="$2"
    shift 2
    rm -rf "$reports"
    local rest
    rest="$(printf '%s:' $(ls "$jars"/*.jar | grep -v -e "/$suite-[0-9.]*.jar" -e junit-platform -e junit-jupiter -e '-tests.jar'))"
    (cd "$out" && java -Xmx1g "${native[@]}" \
        --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED \
        --add-opens java.base/java.lang.reflect=ALL-UNNAMED --add-opens java.base/java.time=ALL-UNNAMED \
        "$@" -jar "$console" execute -cp "$jar:$tests:$rest" --scan-class-path "$tests" \
        --include-classname '.*Test' --exclude-classname '.*(Performance|language\.bm\.).*' --exclude-engine junit-platform-suite --reports-dir "$reports" --details=none \
        > "$reports.log" 2>&1) || true
    outcomes "$reports" > "$reports.txt"
}

{
    echo "| library (Java $java) | tests | passed | skipped | failed | instrumented, differ | with the library, differ | methods counted |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
} | tee "$out/table.md"
bad=0
for suite in $suites; do
    jar="$(ls "$jars/$suite"-[0-9]*.jar | grep -v tests)"
    tests="$(echo "$jars/$suite"-*-tests.jar)"
    "$trodden" instrument "$jar" --probe counters --strip-signatures -o "$out/$suite.jar" 2> "$out/$suite.log"
    run "$jar" "$out/$suite-original"
    run "$out/$suite.jar" "$out/$suite-off"
    run "$out/$suite.jar" "$out/$suite-on" "-Dtrodden.library=$library" \
        "-Dtrodden.options=file=$out/$suite.trodden"
    all="$out/$suite-original.txt"
    count() { grep -c " $1\$" "$all" || true; }
    differ() { diff "$all" "$1" | grep -c '^[<>]' || true; }
    off="$(differ "$out/$suite-off.txt")" on="$(differ "$out/$suite-on.txt")"
    methods="$("$trodden" report "$out/$suite.trodden" --format json | grep -c '"descriptor"' || true)"
    echo "| $(basename "$jar" .jar) | $(wc -l < "$all") | $(count passed) | $(count skipped) | $(($(count failed) + $(count error))) | $off | $on | $methods |" |
        tee -a "$out/table.md"
    if [ "$off$on" != 00 ] || [ "$(count passed)" -lt 100 ]; then bad=1; fi
done
exit $bad
