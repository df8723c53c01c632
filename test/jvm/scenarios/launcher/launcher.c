/*
 * Runs the scenario Embedded: a program that creates a JVM in its own process,
 * has native threads attach to it, and destroys it.
 *
 * Usage: launcher JAVA [OPTION...] -cp PATH CLASS
 *
 * The arguments are those of the command JAVA, whose JVM is loaded. CLASS has
 * the static methods "void own()", "void want()", "void contend()" and
 * "void awaitContention()".
 */
#include <dlfcn.h>
#include <jni.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef jint (*create_jvm)(JavaVM **jvm, void **env, void *args);

enum { MAX_OPTIONS = 64 };

static JavaVM *jvm;
static jclass scenario;

/* A native thread that calls a method. */
struct task {
    const char *thread_name;
    const char *method;
    /* Attaches as a daemon, and does not return from the method. */
    int daemon;
};

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "launcher: failed: %s\n", what);
        exit(1);
    }
}

static void call(JNIEnv *env, const char *name) {
    jmethodID method = (*env)->GetStaticMethodID(env, scenario, name, "()V");

    check(method != NULL, name);
    (*env)->CallStaticVoidMethod(env, scenario, method);
    check(!(*env)->ExceptionCheck(env), name);
}

static void *perform(void *argument) {
    const struct task *task = argument;
    JavaVMAttachArgs attach = { JNI_VERSION_1_8, (char *) task->thread_name, NULL };
    JNIEnv *env;
    jint attached = task->daemon
        ? (*jvm)->AttachCurrentThreadAsDaemon(jvm, (void **) &env, &attach)
        : (*jvm)->AttachCurrentThread(jvm, (void **) &env, &attach);

    check(attached == JNI_OK, "attach");
    call(env, task->method);
    check((*jvm)->DetachCurrentThread(jvm) == JNI_OK, "detach");
    return NULL;
}

static create_jvm load_jvm(const char *java) {
    char path[PATH_MAX];
    char *directory = strdup(java);
    void *library;
    create_jvm create;

    check(directory != NULL, "memory");
    snprintf(path, sizeof path, "%s/../jre/lib/amd64/server/libjvm.so", dirname(directory));
    free(directory);
    library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    check(library != NULL, path);
    /* POSIX's way to turn an object pointer into a function pointer. */
    *(void **) &create = dlsym(library, "JNI_CreateJavaVM");
    check(create != NULL, "JNI_CreateJavaVM");
    return create;
}

static JNIEnv *start_jvm(create_jvm create, int count, char **words) {
    JavaVMOption options[MAX_OPTIONS] = { { NULL, NULL } };
    JavaVMInitArgs args = { JNI_VERSION_1_8, 0, options, JNI_FALSE };
    char class_path[2 * PATH_MAX];
    JNIEnv *env;

    check(count <= MAX_OPTIONS, "fewer options");
    for (int i = 0; i < count; i++) {
        char *option = words[i];
        if (strcmp(option, "-cp") == 0 && i + 1 < count) {
            i++;
            snprintf(class_path, sizeof class_path, "-Djava.class.path=%s", words[i]);
            option = class_path;
        }
        options[args.nOptions++].optionString = option;
    }
    check(create(&jvm, (void **) &env, &args) == JNI_OK, "create a JVM");
    return env;
}

int main(int argc, char **argv) {
    static struct task tasks[] = {
        { "native-owner", "own", 0 },
        { "native-waiter", "want", 0 },
        { "native-daemon-0", "contend", 1 },
        { "native-daemon-1", "contend", 1 },
    };
    pthread_t threads[4];
    JNIEnv *env;
    char *name;

    check(argc > 3, "arguments");
    env = start_jvm(load_jvm(argv[1]), argc - 3, argv + 2);
    name = argv[argc - 1];
    for (char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot, '.')) {
        *dot = '/';
    }
    scenario = (*env)->FindClass(env, name);
    check(scenario != NULL, name);
    scenario = (*env)->NewGlobalRef(env, scenario);

    for (int i = 0; i < 4; i++) {
        check(pthread_create(&threads[i], NULL, perform, &tasks[i]) == 0, "start a thread");
    }
    for (int i = 0; i < 4; i++) {
        if (!tasks[i].daemon) {
            pthread_join(threads[i], NULL);
        }
    }
    /* They contend on while the JVM is destroyed. */
    call(env, "awaitContention");
    check((*jvm)->DestroyJavaVM(jvm) == JNI_OK, "destroy the JVM");
    puts("destroyed");
    return 0;
}
