package scenarios;

/** A method that is compiled for what was known then, see {@link Deoptimizations}. */
interface Recursion {
    long call(int depth, Deoptimizations round);
}
