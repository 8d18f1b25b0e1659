#pragma once
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <sys/socket.h>

// OpenSSL's own socket BIO writes with write(2), which raises SIGPIPE on a connection that the peer has
// closed. This one sends with MSG_NOSIGNAL, so that no signal disposition of the process matters.
static inline int tls_socket_write(BIO *bio, const char *bytes, int count) {
    BIO_clear_retry_flags(bio);
    ssize_t sent;
    do sent = send((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)count, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_write(bio);
    return (int)sent;
}

static inline int tls_socket_read(BIO *bio, char *bytes, int count) {
    BIO_clear_retry_flags(bio);
    ssize_t got;
    do got = recv((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)count, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
    return (int)got;
}

static inline long tls_socket_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static inline BIO_METHOD *tls_socket_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | 0x7f, "socket without SIGPIPE");
    if (!method) return NULL;
    BIO_meth_set_write(method, tls_socket_write);
    BIO_meth_set_read(method, tls_socket_read);
    BIO_meth_set_ctrl(method, tls_socket_control);
    return method;
}

static inline int tls_attach(SSL *ssl, BIO_METHOD *method, int descriptor) {
    BIO *bio = BIO_new(method);
    if (!bio) return 0;
    BIO_set_data(bio, (void *)(intptr_t)descriptor);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return 1;
}

static inline int tls_select_h2(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                                const unsigned char *in, unsigned int in_length, void *context) {
    static const unsigned char h2[] = {2, 'h', '2'};
    (void)ssl, (void)context;
    int result = SSL_select_next_proto((unsigned char **)out, out_length, h2, sizeof h2, in, in_length);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static inline void tls_common_settings(SSL_CTX *context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 32768);
}

static inline SSL_CTX *tls_client_context(int verify) {
    static const unsigned char h2[] = {2, 'h', '2'};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context) return NULL;
    tls_common_settings(context);
    SSL_CTX_set_verify(context, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_alpn_protos(context, h2, sizeof h2);
    return context;
}

static inline SSL_CTX *tls_server_context(void) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context) return NULL;
    tls_common_settings(context);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, tls_select_h2, NULL);
    return context;
}

// Adds every certificate of a PEM text as an authority; returns how many there were.
static inline int tls_trust_pem(SSL_CTX *context, const char *pem, int length) {
    BIO *bio = BIO_new_mem_buf(pem, length);
    if (!bio) return 0;
    int count = 0;
    for (X509 *one; (one = PEM_read_bio_X509(bio, NULL, NULL, NULL)); X509_free(one))
        count += X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one);
    ERR_clear_error();
    BIO_free(bio);
    return count;
}

// Takes a chain, leaf first, and its private key from PEM texts; returns 1 when they belong together.
static inline int tls_identity_pem(SSL_CTX *context, const char *chain, int chain_length, const char *key,
                                   int key_length) {
    BIO *bio = BIO_new_mem_buf(chain, chain_length);
    X509 *leaf = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    int good = leaf && SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
    for (X509 *one; good && (one = PEM_read_bio_X509(bio, NULL, NULL, NULL));)
        if (SSL_CTX_add0_chain_cert(context, one) != 1) X509_free(one), good = 0;
    BIO_free(bio);
    if (!good) return 0;
    ERR_clear_error();
    bio = BIO_new_mem_buf(key, key_length);
    EVP_PKEY *private_key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;
    good = private_key && SSL_CTX_use_PrivateKey(context, private_key) == 1
        && SSL_CTX_check_private_key(context) == 1;
    EVP_PKEY_free(private_key);
    BIO_free(bio);
    return good;
}

// Names the peer: an address is checked against the certificate's addresses, a name against its names and
// sent as SNI.
static inline int tls_expect_host(SSL *ssl, const char *host) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1) return 1;
    ERR_clear_error();
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

static inline int tls_is_h2(const SSL *ssl) {
    const unsigned char *name;
    unsigned int length;
    SSL_get0_alpn_selected(ssl, &name, &length);
    return length == 2 && name[0] == 'h' && name[1] == '2';
}
