/*
 * The native methods of the scenarios SynchronizedNative, ExceptionFromNative,
 * JniMonitor, JniMonitorAcrossCalls and OwnerShares.
 */
#include <jni.h>
#include <stddef.h>

/* Calls a method "void NAME()" of an object of a scenario. */
static void call(JNIEnv *env, jobject receiver, const char *name) {
    jclass class = (*env)->GetObjectClass(env, receiver);
    jmethodID method = (*env)->GetMethodID(env, class, name, "()V");
    if (method != NULL) {
        (*env)->CallVoidMethod(env, receiver, method);
    }
}

JNIEXPORT void JNICALL
Java_scenarios_SynchronizedNative_lockAround(JNIEnv *env, jobject self, jobject held) {
    (void) self;
    call(env, held, "run");
}

JNIEXPORT void JNICALL
Java_scenarios_SynchronizedNative_lockBriefly(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
}

JNIEXPORT void JNICALL
Java_scenarios_ExceptionFromNative_fail(JNIEnv *env, jobject self, jobject held) {
    (void) self;
    call(env, held, "run");
    (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/IllegalStateException"), "expected");
}

JNIEXPORT void JNICALL
Java_scenarios_ExceptionFromNative_acquire(JNIEnv *env, jobject self) {
    (void) env;
    (void) self;
}

JNIEXPORT void JNICALL
Java_scenarios_JniMonitor_lockAround(JNIEnv *env, jobject self, jobject held) {
    (*env)->MonitorEnter(env, self);
    call(env, held, "run");
    (*env)->MonitorExit(env, self);
}

JNIEXPORT void JNICALL
Java_scenarios_JniMonitor_lockBriefly(JNIEnv *env, jobject self) {
    (*env)->MonitorEnter(env, self);
    (*env)->MonitorExit(env, self);
}

JNIEXPORT void JNICALL
Java_scenarios_JniMonitorAcrossCalls_enter(JNIEnv *env, jobject self) {
    (*env)->MonitorEnter(env, self);
}

JNIEXPORT void JNICALL
Java_scenarios_JniMonitorAcrossCalls_exit(JNIEnv *env, jobject self) {
    (*env)->MonitorExit(env, self);
}

JNIEXPORT void JNICALL
Java_scenarios_OwnerShares_00024Jni_lockAround(JNIEnv *env, jobject self, jobject turn) {
    (*env)->MonitorEnter(env, self);
    call(env, turn, "run");
    (*env)->MonitorExit(env, self);
}

JNIEXPORT void JNICALL
Java_scenarios_OwnerShares_00024NativeMethod_ownerA(JNIEnv *env, jobject self, jobject turn) {
    (void) self;
    call(env, turn, "run");
}

JNIEXPORT void JNICALL
Java_scenarios_OwnerShares_00024NativeMethod_ownerB(JNIEnv *env, jobject self, jobject turn) {
    (void) self;
    call(env, turn, "run");
}

JNIEXPORT void JNICALL
Java_scenarios_OwnerShares_00024NativeMethod_ownerC(JNIEnv *env, jobject self, jobject turn) {
    (void) self;
    call(env, turn, "run");
}

JNIEXPORT void JNICALL
Java_scenarios_OwnerShares_00024NativeMethod_ownerD(JNIEnv *env, jobject self, jobject turn) {
    (void) self;
    call(env, turn, "run");
}
