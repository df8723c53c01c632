package scenarios;

/** The superclass of {@link Derived00}, which is loaded late. */
class Base00 {
    int turn() {
        return 1;
    }
}
