/* The native method of the scenario ParkEndings. */
#include <jni.h>
#include <pthread.h>
#include <stdlib.h>

struct body {
    JavaVM *jvm;
    char name[64];
    jobject runnable;
};

static void *run(void *argument) {
    struct body *body = argument;
    JavaVMAttachArgs attach = { JNI_VERSION_1_8, body->name, NULL };
    JNIEnv *env;
    jclass class;

    if ((*body->jvm)->AttachCurrentThread(body->jvm, (void **) &env, &attach) != JNI_OK) {
        abort();
    }
    class = (*env)->GetObjectClass(env, body->runnable);
    (*env)->CallVoidMethod(env, body->runnable, (*env)->GetMethodID(env, class, "run", "()V"));
    (*body->jvm)->DetachCurrentThread(body->jvm);
    return NULL;
}

JNIEXPORT void JNICALL
Java_scenarios_ParkEndings_runAttached(JNIEnv *env, jclass class, jstring name, jobject runnable) {
    struct body body = { 0 };
    pthread_t thread;
    (void) class;
    (*env)->GetJavaVM(env, &body.jvm);
    (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), body.name);
    body.runnable = (*env)->NewGlobalRef(env, runnable);
    if (pthread_create(&thread, NULL, run, &body) != 0) {
        abort();
    }
    pthread_join(thread, NULL);
    (*env)->DeleteGlobalRef(env, body.runnable);
}
