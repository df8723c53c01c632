package scenarios;

/** Makes compiled code invalid as it is loaded. */
final class Derived00 extends Base00 {
    @Override
    int turn() {
        return 2;
    }
}
