package org.dacapo.harness;

/** The class that DaCapo's harness calls in each iteration. */
public class Callback {
    public Callback(CommandLineArgs arguments) {}

    public void start(String benchmark) {
        System.err.println("===== " + benchmark + " starting =====");
    }

    public void stop(long durationMillis) {}

    public void complete(String benchmark, boolean valid) {
        System.err.println("===== " + benchmark + (valid ? " PASSED" : " FAILED") + " =====");
    }
}
