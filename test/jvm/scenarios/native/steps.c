/* The native methods of the steps of the scenario CallPlans. */
#include <jni.h>
#include <stddef.h>

static jmethodID method(JNIEnv *env, jobject receiver, const char *name, const char *signature) {
    return (*env)->GetMethodID(env, (*env)->GetObjectClass(env, receiver), name, signature);
}

/* Has the plan's encounter at this depth. Returns false if an exception is pending. */
static jboolean meet(JNIEnv *env, jobject plan, const char *where, jint depth) {
    jmethodID encounter_at = method(env, plan, where, "(I)Lscenarios/Encounter;");
    jobject encounter = (*env)->CallObjectMethod(env, plan, encounter_at, depth);
    if (encounter != NULL) {
        (*env)->CallVoidMethod(env, encounter, method(env, encounter, "meet", "()V"));
    }
    return !(*env)->ExceptionCheck(env);
}

/* What the steps in Java do. An exception of a callee is left pending. */
static jlong pass(JNIEnv *env, jobject plan, jint depth) {
    jlong length = 0;
    if (!meet(env, plan, "arriving", depth)) {
        return 0;
    }
    if ((*env)->CallBooleanMethod(env, plan, method(env, plan, "isEnd", "(I)Z"), depth)) {
        length = (*env)->CallLongMethod(env, plan, method(env, plan, "end", "(I)J"), depth);
    } else {
        jmethodID step_at = method(env, plan, "step", "(I)Lscenarios/Step;");
        jobject step = (*env)->CallObjectMethod(env, plan, step_at, depth + 1);
        if (step == NULL) {
            (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/NullPointerException"), "no step");
            return 0;
        }
        length = (*env)->CallLongMethod(
            env, step, method(env, step, "call", "(Lscenarios/CallPlan;I)J"), plan, depth + 1);
    }
    if ((*env)->ExceptionCheck(env) || !meet(env, plan, "leaving", depth)) {
        return 0;
    }
    if ((*env)->CallIntMethod(env, plan, method(env, plan, "divisor", "(I)I"), depth) == 0) {
        (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/ArithmeticException"), "division");
        return 0;
    }
    return length + 1;
}

JNIEXPORT jlong JNICALL
Java_scenarios_NativeStep_call(JNIEnv *env, jobject self, jobject plan, jint depth) {
    (void) self;
    return pass(env, plan, depth);
}

JNIEXPORT jlong JNICALL
Java_scenarios_LockingNativeStep_call(JNIEnv *env, jobject self, jobject plan, jint depth) {
    jmethodID block = method(env, plan, "block", "(ILjava/lang/Object;)V");
    (*env)->CallVoidMethod(env, plan, block, depth, self);
    return (*env)->ExceptionCheck(env) ? 0 : pass(env, plan, depth);
}
