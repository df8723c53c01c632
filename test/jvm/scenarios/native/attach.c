/* The native methods of the scenario Attached. */
#include <jni.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* What a native thread is to do; it frees this. */
struct task {
    JavaVM *jvm;
    char name[64];
    jobject lock;
    jobject held;
    jmethodID run;
    jboolean exit;
};

static void *perform(void *argument) {
    struct task *task = argument;
    JavaVM *jvm = task->jvm;
    JavaVMAttachArgs attach = { JNI_VERSION_1_8, task->name, NULL };
    JNIEnv *env;

    if ((*jvm)->AttachCurrentThread(jvm, (void **) &env, &attach) != JNI_OK) {
        abort();
    }
    (*env)->MonitorEnter(env, task->lock);
    (*env)->CallVoidMethod(env, task->held, task->run);
    if (task->exit) {
        (*env)->MonitorExit(env, task->lock);
    }
    (*jvm)->DetachCurrentThread(jvm);
    free(task);
    return NULL;
}

JNIEXPORT jlong JNICALL
Java_scenarios_Attached_start(JNIEnv *env, jclass class, jstring name, jobject lock, jobject held, jboolean exit) {
    struct task *task = calloc(1, sizeof *task);
    pthread_t thread;
    (void) class;
    if (task == NULL) {
        abort();
    }
    (*env)->GetJavaVM(env, &task->jvm);
    (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), task->name);
    task->lock = (*env)->NewGlobalRef(env, lock);
    task->held = (*env)->NewGlobalRef(env, held);
    task->run = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, held), "run", "()V");
    task->exit = exit;
    if (pthread_create(&thread, NULL, perform, task) != 0) {
        abort();
    }
    return (jlong) (uintptr_t) thread;
}

JNIEXPORT void JNICALL
Java_scenarios_Attached_join(JNIEnv *env, jclass class, jlong thread) {
    (void) env;
    (void) class;
    pthread_join((pthread_t) (uintptr_t) thread, NULL);
}
