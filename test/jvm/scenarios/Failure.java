package scenarios;

/** The exception that leaves frames on purpose. */
final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;

    Failure(String message) {
        super(message);
    }
}
