package scenarios;

/** One frame, or a few, of a {@link Journey}. */
interface Step {
    /** Goes on with the journey's next step; returns how long the journey was from here on. */
    long call(Journey journey, int depth);
}
