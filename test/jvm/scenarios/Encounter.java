package scenarios;

/** The action of a thread at one place of its stack: as a rule, to meet its {@link Contender}. */
interface Encounter {
    /** Does nothing. */
    Encounter NONE = () -> {};

    void meet();
}
