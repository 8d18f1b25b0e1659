#pragma once
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What Swift cannot call in libmicrohttpd, as typed functions: it is variadic wherever a daemon or a connection is asked. */

#define LIVELINE_MHD_MESSAGE_BYTES 256

/* Keeps the newest message of the library in the buffer given as context. */
static inline void liveline_mhd_note(void *context, const char *format, va_list arguments) {
    char *message = (char *)context;
    if (vsnprintf(message, LIVELINE_MHD_MESSAGE_BYTES, format, arguments) < 0) message[0] = 0;
}

struct liveline_mhd_settings {
    int listener;
    unsigned int connections_max;
    size_t connection_memory_bytes;
    const char *certificate; /* NULL: no TLS */
    const char *key;
    const char *priorities;
    char *message; /* LIVELINE_MHD_MESSAGE_BYTES, outlives the daemon */
    void *context;
    MHD_AccessHandlerCallback access;
    void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
};

/* Starts a daemon in external epoll mode without time limits of its own. */
static inline struct MHD_Daemon *liveline_mhd_start(const struct liveline_mhd_settings *s) {
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)s->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)s->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)s->priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem items[] = {
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)liveline_mhd_note, s->message},
        {MHD_OPTION_LISTEN_SOCKET, s->listener, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)s->connections_max, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)s->connection_memory_bytes, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, 0, NULL},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)s->request_line, s->context},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)s->completed, s->context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)s->connection, s->context},
        {MHD_OPTION_ARRAY, 0, s->certificate ? tls : none},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (s->certificate) flags |= MHD_USE_TLS;
    return MHD_start_daemon(flags, 0, NULL, NULL, s->access, s->context, MHD_OPTION_ARRAY, items,
                            MHD_OPTION_END);
}

static inline int liveline_mhd_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/* Whether the daemon has work that no readiness of its descriptor will announce. */
static inline int liveline_mhd_has_pending_work(struct MHD_Daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG milliseconds = 1;
    return MHD_get_timeout(daemon, &milliseconds) == MHD_YES && milliseconds == 0;
}

static inline int liveline_mhd_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline void *liveline_mhd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Whether a certificate chain can be read; a negative code of GnuTLS if not. */
static inline int liveline_tls_examine(const gnutls_datum_t *chain) {
    gnutls_x509_crt_t *certificates = NULL;
    unsigned int count = 0;
    const int result = gnutls_x509_crt_list_import2(&certificates, &count, chain, GNUTLS_X509_FMT_PEM, 0);
    if (result < 0) return result;
    for (unsigned int index = 0; index < count; index++) gnutls_x509_crt_deinit(certificates[index]);
    gnutls_free(certificates);
    return 0;
}

/* Reads a certificate chain and its private key, both PEM; a negative code of GnuTLS if they do not serve. */
static inline int liveline_tls_make(const char *certificate, const char *key,
                                    gnutls_certificate_credentials_t *made) {
    const gnutls_datum_t chain = {(unsigned char *)certificate, (unsigned int)strlen(certificate)};
    const gnutls_datum_t secret = {(unsigned char *)key, (unsigned int)strlen(key)};
    /* GnuTLS 3.7.9 leaks what it has begun of a certificate that gnutls_certificate_set_x509_key_mem cannot read. */
    int result = liveline_tls_examine(&chain);
    if (result < 0) return result;
    gnutls_certificate_credentials_t credentials;
    result = gnutls_certificate_allocate_credentials(&credentials);
    if (result < 0) return result;
    result = gnutls_certificate_set_x509_key_mem(credentials, &chain, &secret, GNUTLS_X509_FMT_PEM);
    if (result < 0) {
        gnutls_certificate_free_credentials(credentials);
        return result;
    }
    *made = credentials;
    return 0;
}

/* Has a connection whose handshake has not begun show this certificate; it must outlive the connection. */
static inline int liveline_tls_show(struct MHD_Connection *connection,
                                    gnutls_certificate_credentials_t credentials) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (!info || !info->tls_session) return GNUTLS_E_INVALID_SESSION;
    return gnutls_credentials_set((gnutls_session_t)info->tls_session, GNUTLS_CRD_CERTIFICATE, credentials);
}
