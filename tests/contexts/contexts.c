/*
 * Writes down the calling context of every call: at each entry of a method of the chosen classes, a walk of the stack.
 * That is slow, and shares nothing with how Trodden finds contexts.
 *
 * Options: FILE,PREFIX where PREFIX begins the signatures of the chosen classes (LCalls). Lines of the file:
 *   m ID CLASS NAME DESCRIPTOR     a method
 *   c ID:BCI ID:BCI ...            a call: the chosen activations from the innermost on, each with the bytecode index at which
 *                                  it was called (that of the next chosen frame below it; -1 if there is none)
 */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 4096
#define METHODS (1 << 17)

static FILE *out;
static const char *prefix;
static jrawMonitorID lock;
/* Open addressing: method, and its number or -1. */
static jmethodID known[METHODS];
static int numbers[METHODS];
static int count, taken;

static void check(jvmtiError error, const char *what) {
    if (error != JVMTI_ERROR_NONE) {
        fprintf(stderr, "oracle: %s: error %d\n", what, error);
        abort();
    }
}

/* Is it a method of the chosen classes, with code? Then it is written down. */
static int choose(jvmtiEnv *jvmti, jmethodID method) {
    jclass class;
    char *signature, *name, *descriptor;
    jint modifiers;
    check((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class), "class");
    check((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL), "signature");
    check((*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL), "name");
    check((*jvmti)->GetMethodModifiers(jvmti, method, &modifiers), "modifiers");
    /* Classes made at run time for lambdas have the name of the class that uses them, and more. */
    int ours = (modifiers & 0x100) == 0 && strncmp(signature, prefix, strlen(prefix)) == 0
        && strstr(signature, "$$Lambda") == NULL;
    if (ours) {
        fprintf(out, "m %d %.*s %s %s\n", count, (int) strlen(signature) - 2, signature + 1, name, descriptor);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *) signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) descriptor);
    return ours ? count++ : -1;
}

/* The number of a method; -1 if it is not one of the chosen. */
static int number(jvmtiEnv *jvmti, jmethodID method) {
    size_t at = ((size_t) method >> 3) * 0x9e3779b97f4a7c15u >> 40 & (METHODS - 1);
    while (known[at] != NULL) {
        if (known[at] == method) {
            return numbers[at];
        }
        at = (at + 1) & (METHODS - 1);
    }
    if (++taken > METHODS / 2) {
        fprintf(stderr, "oracle: too many methods\n");
        abort();
    }
    known[at] = method;
    return numbers[at] = choose(jvmti, method);
}

static void JNICALL entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method) {
    (void) jni;
    static __thread jvmtiFrameInfo frames[DEPTH];
    check((*jvmti)->RawMonitorEnter(jvmti, lock), "lock");
    if (out != NULL && number(jvmti, method) >= 0) {
        jint depth;
        check((*jvmti)->GetStackTrace(jvmti, thread, 0, DEPTH, frames, &depth), "stack");
        if (depth == DEPTH) {
            fprintf(stderr, "oracle: too deep\n");
            abort();
        }
        fputc('c', out);
        int last = -1;
        for (int i = 0; i < depth; i++) {
            int id = number(jvmti, frames[i].method);
            if (id < 0) {
                continue;
            }
            if (last >= 0) {
                fprintf(out, ":%d", (int) frames[i].location);
            }
            fprintf(out, " %d", id);
            last = id;
        }
        fprintf(out, ":-1\n");
    }
    check((*jvmti)->RawMonitorExit(jvmti, lock), "unlock");
}

static void JNICALL begun(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    (void) jni;
    (void) thread;
    check((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL), "entries");
}

static void JNICALL over(jvmtiEnv *jvmti, JNIEnv *jni) {
    (void) jni;
    check((*jvmti)->RawMonitorEnter(jvmti, lock), "lock");
    fclose(out);
    out = NULL;
    check((*jvmti)->RawMonitorExit(jvmti, lock), "unlock");
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    (void) reserved;
    jvmtiEnv *jvmti;
    if ((*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_11) != JNI_OK) {
        return JNI_ERR;
    }
    char *comma = strchr(options, ',');
    prefix = strdup(comma + 1);
    char *file = strdup(options);
    file[comma - options] = 0;
    out = fopen(file, "w");
    if (out == NULL) {
        return JNI_ERR;
    }
    jvmtiCapabilities capabilities;
    memset(&capabilities, 0, sizeof capabilities);
    capabilities.can_generate_method_entry_events = 1;
    check((*jvmti)->AddCapabilities(jvmti, &capabilities), "capabilities");
    check((*jvmti)->CreateRawMonitor(jvmti, "oracle", &lock), "lock");
    jvmtiEventCallbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.MethodEntry = entered;
    callbacks.VMInit = begun;
    callbacks.VMDeath = over;
    check((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks), "callbacks");
    check((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL), "start");
    check((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL), "death");
    return JNI_OK;
}
