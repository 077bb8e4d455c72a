#!/bin/sh
# Records the seeds again, with the `trodden` on the path: needed only if a new kind of data should be in them.
set -e
cd "$(dirname "$0")"
work=/tmp/trodden-seeds
mkdir "$work"
trap 'rm -rf "$work"' EXIT
for build in one two; do
    javac --release 17 -g -d "$work/$build" $build/Shop.java
done
record() {
    trodden run --quiet --profile paths+contexts --algorithm exact --sample 1ms --file "$work/$1.trodden" -- \
        java -cp "$work/$2" shop.Shop "$3" "$4"
    cp "$work/$1.trodden" .
}
# Build one; build two, whose customers are all grown up; build two on a host whose cache is of no use.
record one one 100 true
record two two 100 false
record odd two 1000000 false
