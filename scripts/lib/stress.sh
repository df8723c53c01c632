# shellcheck shell=bash
# What is run under stress: the scenarios and async-profiler. Expects ROOT, STOCK, SOURCES and WORK.

# Releases of the profiler, the folder of test/jvm that fetches each, and its jar's SHA-256: the last one that asks
# the JVM for stacks unless something else is wanted, and the newest.
readonly PROFILERS=(
  "4.1 profiler/previous 5535baa56133628cfffe2f05ca9bfef1fae3d5abe49835447262b1c6da4a9582"
  "4.5 profiler d0184907de67ca63363f1a6333c75eb7414fb3e13c564641304fe0fdca97363e"
)

# Into WORK/programs, with their natives and the agent that redefines classes.
compile_programs() {
  local include=$STOCK/include
  rm -rf "$WORK/programs"
  mkdir -p "$WORK/programs/boot" "$WORK/programs/classes"
  "$STOCK/bin/javac" -encoding UTF-8 -d "$WORK/programs/boot" "$SOURCES"/whitebox/sun/hotspot/*.java
  "$STOCK/bin/javac" -encoding UTF-8 -XDignore.symbol.file -cp "$WORK/programs/boot" -d "$WORK/programs/classes" "$SOURCES"/*.java
  cc -O2 -pthread -shared -fPIC -I"$include" -I"$include/linux" -o "$WORK/programs/libscenarios.so" "$SOURCES"/native/*.c
  printf 'Premain-Class: scenarios.Redefinition\nCan-Redefine-Classes: true\n' >"$WORK/programs/manifest"
  "$STOCK/bin/jar" cfm "$WORK/programs/agent.jar" "$WORK/programs/manifest"
}

# The profilers, from packages of Maven's.
fetch_profilers() {
  local profiler version folder sha256 into
  for profiler in "${PROFILERS[@]}"; do
    read -r version folder sha256 <<<"$profiler"
    into=$WORK/programs/profiler-$version
    mvn --batch-mode --quiet --file "$ROOT/test/jvm/$folder/pom.xml" dependency:copy-dependencies -DoutputDirectory="$into"
    sha256sum --check --strict <<<"$sha256  $into/async-profiler-$version.jar"
    (cd "$into" && "$STOCK/bin/jar" xf "async-profiler-$version.jar" linux-x64/libasyncProfiler.so)
  done
}

# profiler_agent TURN: the library of one of them.
profiler_agent() {
  local profiler=${PROFILERS[$1 % ${#PROFILERS[@]}]}
  printf '%s' "$WORK/programs/profiler-${profiler%% *}/linux-x64/libasyncProfiler.so"
}
