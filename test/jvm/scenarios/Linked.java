package scenarios;

/** A class whose verification needs other classes; see {@link ClassLinking}. */
final class Linked {
    private Linked() {}

    static Base upcast(Derived derived) {
        return derived;
    }

    static class Base {}

    static final class Derived extends Base {}
}
