package scenarios;

/** One frame, or a few, of a {@link CallPlan}. */
interface Step {
    /** Goes on with the plan's next step; returns how long the plan was from here on. */
    long call(CallPlan plan, int depth);
}
