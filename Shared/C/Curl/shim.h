#pragma once
#include <curl/curl.h>

/* The variadic calls of libcurl with the types that they are used with. */

typedef size_t (*liveline_curl_sink)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode liveline_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode liveline_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode liveline_curl_set_context(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode liveline_curl_set_headers(CURL *easy, struct curl_slist *value) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, value);
}

static inline CURLcode liveline_curl_set_sink(CURL *easy, CURLoption option, liveline_curl_sink value) {
    return curl_easy_setopt(easy, option, value);
}

/* Copies the body; an empty one is sent as such and not read from standard input. */
static inline CURLcode liveline_curl_set_body(CURL *easy, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    if (code != CURLE_OK) return code;
    return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, count ? (const char *)bytes : "");
}

static inline long liveline_curl_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* What the proxy answered to the last CONNECT; 0 without one. */
static inline long liveline_curl_connect_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status;
}

static inline void *liveline_curl_private(CURL *easy) {
    char *context = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context);
    return context;
}

/* The next finished transfer and its result, or NULL. */
static inline CURL *liveline_curl_next_finished(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

static inline CURLMcode liveline_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode liveline_curl_multi_set_callbacks(CURLM *multi, curl_socket_callback socket,
                                                          curl_multi_timer_callback timer, void *context) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    return curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
