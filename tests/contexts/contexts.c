/*
 * Counts the calling contexts of all calls: at each entry of a method of the chosen classes, a walk of the stack.
 * That is slow, and shares nothing with how Trodden finds contexts.
 *
 * Options: FILE,PREFIX where PREFIX begins the signatures of the chosen classes (LCalls). With FILE,PREFIX,lines source lines take the
 * place of bytecode indices: those do not change when code is rewritten, so Trodden may be in the same JVM. Lines of the file:
 *   m ID CLASS NAME DESCRIPTOR     a method
 *   c COUNT ID:BCI ID:BCI ...      so many calls in a context: the chosen activations from the innermost on, each with the bytecode
 *                                  index at which it was called (that of the next chosen frame below it; -1 if there is none, -2 if it
 *                                  is a class loader that is asked for the class that Trodden's probes call)
 */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 4096
#define METHODS (1 << 17)

static FILE *out;
static const char *prefix;
static int by_lines;
static jrawMonitorID lock;
/* Open addressing: method, and its number or -1. */
static jmethodID known[METHODS];
static int numbers[METHODS];
static int count, taken;
/* By number, where lines are asked for: what the class file tells of them, and is it a class loader's method that loads a class by name? */
static struct { jvmtiLineNumberEntry *entries; jint count; int loads; } lines_of[METHODS / 2];

/* A context: who called it (0: nobody), what runs, called from where, how often. Number 0 is no context. */
struct context {
    int caller, id, bci;
    long long calls;
};
static struct context *contexts;
static int context_count = 1, context_room;
/* Open addressing: numbers of contexts, 0 is free. Twice as many places as there is room for contexts, at least. */
static int *index_of;
static size_t places;

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
    /* Hidden classes, which the JDK makes at run time for lambdas and switches over types, have the name of the class that uses them, and
       behind a dot a number. They get no probes. */
    int ours = (modifiers & 0x100) == 0 && strncmp(signature, prefix, strlen(prefix)) == 0 && strchr(signature, '.') == NULL;
    if (ours && by_lines) {
        jvmtiError error = (*jvmti)->GetLineNumberTable(jvmti, method, &lines_of[count].count, &lines_of[count].entries);
        if (error == JVMTI_ERROR_ABSENT_INFORMATION) {
            lines_of[count].count = 0;
        } else {
            check(error, "lines");
        }
        lines_of[count].loads = (modifiers & 0x8) == 0 && strcmp(name, "loadClass") == 0
            && strncmp(descriptor, "(Ljava/lang/String;", 19) == 0;
    }
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

/* What stands for the place of a call: its bytecode index, or its line, -1 if that is not known. */
static int site(int id, jlocation location) {
    if (!by_lines) {
        return (int) location;
    }
    jlocation best = -1;
    int line = -1;
    /* The first of several entries for one place is the one that HotSpot shows. */
    for (jint i = 0; i < lines_of[id].count; i++) {
        jvmtiLineNumberEntry *entry = &lines_of[id].entries[i];
        if (entry->start_location <= location && entry->start_location > best) {
            best = entry->start_location;
            line = entry->line_number;
        }
    }
    return line;
}

static size_t place_of(int caller, int id, int bci) {
    size_t hash = (size_t) caller * 0x9e3779b97f4a7c15u + (size_t) id * 0xc2b2ae3d27d4eb4fu + (size_t) (bci + 1) * 0x165667b19e3779f9u;
    size_t at = (hash >> 20) & (places - 1);
    for (; index_of[at] != 0; at = (at + 1) & (places - 1)) {
        struct context *c = &contexts[index_of[at]];
        if (c->caller == caller && c->id == id && c->bci == bci) {
            break;
        }
    }
    return at;
}

static void grow(void) {
    context_room = context_room == 0 ? 1 << 16 : context_room * 2;
    places = (size_t) context_room * 2;
    contexts = realloc(contexts, (size_t) context_room * sizeof *contexts);
    free(index_of);
    index_of = calloc(places, sizeof *index_of);
    if (contexts == NULL || index_of == NULL) {
        fprintf(stderr, "oracle: no memory\n");
        abort();
    }
    for (int i = 1; i < context_count; i++) {
        index_of[place_of(contexts[i].caller, contexts[i].id, contexts[i].bci)] = i;
    }
}

/* The number of a context. */
static int context(int caller, int id, int bci) {
    if (context_count >= context_room) {
        grow();
    }
    size_t at = place_of(caller, id, bci);
    if (index_of[at] == 0) {
        contexts[context_count] = (struct context) { caller, id, bci, 0 };
        index_of[at] = context_count++;
    }
    return index_of[at];
}

/* Is this frame of the calling thread a class loader that is asked for the class that Trodden's probes call? The program without Trodden does
   not do that. It happens in the first probe of an activation, which has not told its beginning by then. */
static int loads_for_probes(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, int id, jint depth) {
    jobject name;
    if (!lines_of[id].loads || (*jvmti)->GetLocalObject(jvmti, thread, depth, 1, &name) != JVMTI_ERROR_NONE || name == NULL) {
        return 0;
    }
    const char *text = (*jni)->GetStringUTFChars(jni, name, NULL);
    int found = text != NULL && strcmp(text, "java.lang.Trodden") == 0;
    if (text != NULL) {
        (*jni)->ReleaseStringUTFChars(jni, name, text);
    }
    (*jni)->DeleteLocalRef(jni, name);
    return found;
}

static void JNICALL entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method) {
    static __thread jvmtiFrameInfo frames[DEPTH];
    check((*jvmti)->RawMonitorEnter(jvmti, lock), "lock");
    if (out != NULL && number(jvmti, method) >= 0) {
        jint depth;
        check((*jvmti)->GetStackTrace(jvmti, thread, 0, DEPTH, frames, &depth), "stack");
        if (depth == DEPTH) {
            fprintf(stderr, "oracle: too deep\n");
            abort();
        }
        int at = 0, bci = -1, for_probes = 0;
        for (int i = depth - 1; i >= 0; i--) {
            int id = number(jvmti, frames[i].method);
            if (id >= 0) {
                /* What it calls on the way is called as usual, the loader that it asks itself too. */
                if (!for_probes && loads_for_probes(jvmti, jni, thread, id, i)) {
                    for_probes = 1;
                    bci = -2;
                }
                at = context(at, id, bci);
                bci = site(id, frames[i].location);
            }
        }
        contexts[at].calls++;
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
    for (int i = 1; i < context_count; i++) {
        if (contexts[i].calls > 0) {
            fprintf(out, "c %lld", contexts[i].calls);
            for (int at = i; at != 0; at = contexts[at].caller) {
                fprintf(out, " %d:%d", contexts[at].id, contexts[at].bci);
            }
            fputc('\n', out);
        }
    }
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
    char *signatures = strdup(comma + 1), *more = strchr(signatures, ',');
    if (more != NULL) {
        *more = 0;
        by_lines = strcmp(more + 1, "lines") == 0;
    }
    prefix = signatures;
    char *file = strdup(options);
    file[comma - options] = 0;
    out = fopen(file, "w");
    if (out == NULL) {
        return JNI_ERR;
    }
    jvmtiCapabilities capabilities;
    memset(&capabilities, 0, sizeof capabilities);
    capabilities.can_generate_method_entry_events = 1;
    capabilities.can_get_line_numbers = (unsigned) by_lines;
    capabilities.can_access_local_variables = (unsigned) by_lines;
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
