# shellcheck shell=bash
# What is run under stress: the scenarios and async-profiler. Expects ROOT, STOCK, SOURCES and WORK.

readonly PROFILER_SHA256=5535baa56133628cfffe2f05ca9bfef1fae3d5abe49835447262b1c6da4a9582

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

# The profiler, from a package of Maven's.
fetch_profiler() {
  local jar
  mvn --batch-mode --quiet --file "$ROOT/test/jvm/profiler/pom.xml" dependency:copy-dependencies -DoutputDirectory="$WORK/programs"
  jar=$WORK/programs/async-profiler-4.1.jar
  sha256sum --check --strict <<<"$PROFILER_SHA256  $jar"
  (cd "$WORK/programs" && "$STOCK/bin/jar" xf "$jar" linux-x64/libasyncProfiler.so)
}
