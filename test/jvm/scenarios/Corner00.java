package scenarios;

/** What {@link Sharp00} is a subclass of, which is loaded late. */
class Corner00 {
    int turn() {
        return 1;
    }
}
