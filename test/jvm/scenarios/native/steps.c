/* The native methods of the steps of the scenario Journeys. */
#include <jni.h>
#include <stddef.h>

static jmethodID method(JNIEnv *env, jobject receiver, const char *name, const char *signature) {
    return (*env)->GetMethodID(env, (*env)->GetObjectClass(env, receiver), name, signature);
}

/* Has the journey's encounter at this depth. Returns false if an exception is pending. */
static jboolean meet(JNIEnv *env, jobject journey, const char *where, jint depth) {
    jmethodID encounter_at = method(env, journey, where, "(I)Lscenarios/Encounter;");
    jobject encounter = (*env)->CallObjectMethod(env, journey, encounter_at, depth);
    if (encounter != NULL) {
        (*env)->CallVoidMethod(env, encounter, method(env, encounter, "meet", "()V"));
    }
    return !(*env)->ExceptionCheck(env);
}

/* What the steps in Java do. An exception of a callee is left pending. */
static jlong pass(JNIEnv *env, jobject journey, jint depth) {
    jlong length = 0;
    if (!meet(env, journey, "arriving", depth)) {
        return 0;
    }
    if ((*env)->CallBooleanMethod(env, journey, method(env, journey, "isEnd", "(I)Z"), depth)) {
        length = (*env)->CallLongMethod(env, journey, method(env, journey, "end", "(I)J"), depth);
    } else {
        jmethodID step_at = method(env, journey, "step", "(I)Lscenarios/Step;");
        jobject step = (*env)->CallObjectMethod(env, journey, step_at, depth + 1);
        if (step == NULL) {
            (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/NullPointerException"), "no step");
            return 0;
        }
        length = (*env)->CallLongMethod(
            env, step, method(env, step, "call", "(Lscenarios/Journey;I)J"), journey, depth + 1);
    }
    if ((*env)->ExceptionCheck(env) || !meet(env, journey, "leaving", depth)) {
        return 0;
    }
    if ((*env)->CallIntMethod(env, journey, method(env, journey, "divisor", "(I)I"), depth) == 0) {
        (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/ArithmeticException"), "division");
        return 0;
    }
    return length + 1;
}

JNIEXPORT jlong JNICALL
Java_scenarios_NativeStep_call(JNIEnv *env, jobject self, jobject journey, jint depth) {
    (void) self;
    return pass(env, journey, depth);
}

JNIEXPORT jlong JNICALL
Java_scenarios_LockingNativeStep_call(JNIEnv *env, jobject self, jobject journey, jint depth) {
    jmethodID attract = method(env, journey, "attract", "(ILjava/lang/Object;)V");
    (*env)->CallVoidMethod(env, journey, attract, depth, self);
    return (*env)->ExceptionCheck(env) ? 0 : pass(env, journey, depth);
}
