/* Native methods of Calls.java: native frames between Java frames. */
#include <jni.h>

static jint run(JNIEnv *jni, jobject job, jint n) {
    jmethodID method = (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, job), "run", "(I)I");
    return method == NULL ? 0 : (*jni)->CallIntMethod(jni, job, method, n);
}

JNIEXPORT jint JNICALL Java_Calls_nativeOnce(JNIEnv *jni, jclass class, jobject job, jint n) {
    (void) class;
    return run(jni, job, n);
}

JNIEXPORT jint JNICALL Java_Calls_nativeTwice(JNIEnv *jni, jclass class, jobject job, jint n) {
    (void) class;
    jint sum = 0;
    for (int i = 0; i < 2; i++) {
        jint result = run(jni, job, n);
        if ((*jni)->ExceptionCheck(jni)) {
            (*jni)->ExceptionClear(jni);
            result = run(jni, job, 0);
            if ((*jni)->ExceptionCheck(jni)) {
                (*jni)->ExceptionClear(jni);
            }
        }
        sum += result;
    }
    return sum;
}
