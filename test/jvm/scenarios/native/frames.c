/*
 * The native methods of the scenario PoppedFrames: what a debugger does to
 * frames. The JVM gives the right to do so to agents only.
 */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>

static jvmtiEnv *jvmti;

static void check(jvmtiError error, const char *what) {
    if (error != JVMTI_ERROR_NONE) {
        fprintf(stderr, "%s: JVMTI error %d\n", what, error);
        abort();
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options, void *reserved) {
    jvmtiCapabilities capabilities = { .can_suspend = 1, .can_pop_frame = 1, .can_force_early_return = 1 };
    (void) options;
    (void) reserved;
    if ((*jvm)->GetEnv(jvm, (void **) &jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
        return JNI_ERR;
    }
    check((*jvmti)->AddCapabilities(jvmti, &capabilities), "AddCapabilities");
    return JNI_OK;
}

JNIEXPORT void JNICALL
Java_scenarios_PoppedFrames_suspend(JNIEnv *env, jclass class, jthread thread) {
    (void) env;
    (void) class;
    check((*jvmti)->SuspendThread(jvmti, thread), "SuspendThread");
}

JNIEXPORT void JNICALL
Java_scenarios_PoppedFrames_resume(JNIEnv *env, jclass class, jthread thread) {
    (void) env;
    (void) class;
    check((*jvmti)->ResumeThread(jvmti, thread), "ResumeThread");
}

JNIEXPORT void JNICALL
Java_scenarios_PoppedFrames_popFrame(JNIEnv *env, jclass class, jthread thread) {
    (void) env;
    (void) class;
    check((*jvmti)->PopFrame(jvmti, thread), "PopFrame");
}

JNIEXPORT void JNICALL
Java_scenarios_PoppedFrames_forceReturn(JNIEnv *env, jclass class, jthread thread, jint value) {
    (void) env;
    (void) class;
    check((*jvmti)->ForceEarlyReturnInt(jvmti, thread, value), "ForceEarlyReturnInt");
}
