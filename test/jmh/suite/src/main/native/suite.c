/* The native methods of tools.locktrace.suite.shapes.NativeGuards: the JVM locks
 * around them, they run the turn. */

#include <jni.h>

static void run(JNIEnv* env, jobject turn) {
    jclass type = (*env)->GetObjectClass(env, turn);
    jmethodID method = (*env)->GetMethodID(env, type, "run", "()V");
    if (method != NULL) {  /* else a NoSuchMethodError is pending */
        (*env)->CallVoidMethod(env, turn, method);
    }
}

JNIEXPORT void JNICALL
Java_tools_locktrace_suite_shapes_NativeGuards_00024Method_locked(JNIEnv* env, jobject self, jobject turn) {
    (void)self;
    run(env, turn);
}

JNIEXPORT void JNICALL
Java_tools_locktrace_suite_shapes_NativeGuards_00024StaticMethod_lockedClass(JNIEnv* env, jclass self,
                                                                             jobject turn) {
    (void)self;
    run(env, turn);
}
