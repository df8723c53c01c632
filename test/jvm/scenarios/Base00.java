package scenarios;

/** What {@link Derived00} is a subclass of, which is loaded late. */
class Base00 {
    int turn() {
        return 1;
    }
}
