#pragma once
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <time.h>

// What OpenSSL offers as macros or variadic functions, and what Swift's own names would hide.

static inline EVP_PKEY *liveline_generate_p256(void) { return EVP_EC_gen("P-256"); }

// The algorithm is looked up once by the caller: SHA256() does so each time, which costs as much as a short digest.
static inline EVP_MD *liveline_sha256_algorithm(void) { return EVP_MD_fetch(NULL, "SHA256", NULL); }

static inline void liveline_sha256(
    const EVP_MD *algorithm, const unsigned char *bytes, size_t count, unsigned char *digest) {
    EVP_Digest(bytes, count, digest, NULL, algorithm ? algorithm : EVP_sha256(), NULL);
}

static inline void liveline_hmac_sha256(
    const unsigned char *key, size_t keyCount, const unsigned char *bytes, size_t count, unsigned char *code) {
    HMAC(EVP_sha256(), key, (int)keyCount, bytes, count, code, NULL);
}

static inline size_t liveline_bio_bytes(BIO *bio, const char **bytes) {
    char *start = NULL;
    long count = BIO_get_mem_data(bio, &start);
    *bytes = start;
    return count > 0 ? (size_t)count : 0;
}

static inline void liveline_free(void *memory) { OPENSSL_free(memory); }
static inline void liveline_clear_free(void *memory, size_t count) { OPENSSL_clear_free(memory, count); }

static inline int liveline_add_extension(X509 *certificate, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (!extension) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

// Seconds since 1970 of a certificate's date; 0 if it cannot be read.
static inline int liveline_asn1_seconds(const ASN1_TIME *time, long long *seconds) {
    struct tm parts;
    if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    *seconds = (long long)timegm(&parts);
    return 1;
}

#include "tls.h"
