package scenarios;

import java.security.AccessController;
import java.security.PrivilegedAction;

/** A native method of the JDK that calls back. */
final class PrivilegedStep implements Step {
    @Override
    public long call(CallPlan plan, int depth) {
        return AccessController.doPrivileged((PrivilegedAction<Long>) () -> HandleStep.pass(plan, depth));
    }
}
