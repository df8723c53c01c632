package scenarios;

/** Makes compiled code invalid as it is loaded. */
final class Sharp00 extends Corner00 {
    @Override
    int turn() {
        return 2;
    }
}
