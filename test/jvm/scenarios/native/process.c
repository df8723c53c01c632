/* The native methods of the class Natives. */
#include <jni.h>
#include <stdlib.h>
#include <time.h>

JNIEXPORT jint JNICALL
Java_scenarios_Natives_system(JNIEnv *env, jclass class, jstring command) {
    const char *text = (*env)->GetStringUTFChars(env, command, NULL);
    int status;
    (void) class;
    if (text == NULL) {
        return -1;
    }
    status = system(text);
    (*env)->ReleaseStringUTFChars(env, command, text);
    return status;
}

JNIEXPORT void JNICALL
Java_scenarios_Natives_pause(JNIEnv *env, jclass class) {
    struct timespec moment = { 0, 20000 };
    (void) env;
    (void) class;
    nanosleep(&moment, NULL);
}

JNIEXPORT jobject JNICALL
Java_scenarios_Natives_newInstance(JNIEnv *env, jclass class, jclass type) {
    jmethodID constructor = (*env)->GetMethodID(env, type, "<init>", "()V");
    (void) class;
    return constructor == NULL ? NULL : (*env)->NewObject(env, type, constructor);
}
