# $1: the agent's options or none, $2…: further options of the JVM. In benchmarks-java; JDK 17; the processor is shared with other jobs.
taskset -c 1 java ${1:+-agentpath:../target/release/libtrodden.so=$1} "${@:2}" -cp build/drivers/ecj:build/drivers:apps/ecj/ecj-3.33.0.jar \
    trodden.drivers.EcjDriver --warmup 1 --iterations 9 apps/sources/commons-lang3-3.14.0-sources.jar
