// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace muster_test {

/// A certificate and its key, in PEM too.
struct identity {
    std::shared_ptr<X509> certificate;
    std::shared_ptr<EVP_PKEY> key;
    std::string certificate_pem;
    std::string key_pem;
};

struct certificate_wish {
    std::string names; ///< subjectAltName, such as DNS:localhost,IP:127.0.0.1; empty: an authority
    long ends_in = 3600;              ///< seconds
    const identity* signer = nullptr; ///< itself without
};

inline std::string pem_of(const std::function<int(BIO*)>& write) {
    const std::unique_ptr<BIO, int (*)(BIO*)> out(BIO_new(BIO_s_mem()), &BIO_free);
    write(out.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

inline identity make_identity(const certificate_wish& wish) {
    identity made;
    made.key.reset(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    made.certificate.reset(X509_new(), &X509_free);
    X509* const x = made.certificate.get();
    static long serial = 0;
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(x), -7200);
    X509_gmtime_adj(X509_getm_notAfter(x), wish.ends_in);
    X509_set_pubkey(x, made.key.get());
    X509_NAME* const name = X509_get_subject_name(x);
    const std::string common = "test " + std::to_string(serial);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(common.c_str()), -1, -1, 0);
    const identity& signer = wish.signer ? *wish.signer : made;
    X509_set_issuer_name(x, X509_get_subject_name(signer.certificate.get()));
    const auto extend = [&](int what, const std::string& value) {
        X509V3_CTX context;
        X509V3_set_ctx(&context, signer.certificate.get(), x, nullptr, nullptr, 0);
        X509_EXTENSION* const one = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
        X509_add_ext(x, one, -1);
        X509_EXTENSION_free(one);
    };
    extend(NID_basic_constraints, wish.names.empty() ? "critical,CA:TRUE" : "CA:FALSE");
    if (!wish.names.empty())
        extend(NID_subject_alt_name, wish.names);
    X509_sign(x, signer.key.get(), EVP_sha256());
    made.certificate_pem = pem_of([&](BIO* out) { return PEM_write_bio_X509(out, x); });
    made.key_pem = pem_of([&](BIO* out) {
        return PEM_write_bio_PrivateKey(out, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return made;
}

/// Serves one connection after the other on 127.0.0.1, in a thread of its own: answers each request
/// with the bytes that a function gives for its head (and body); empty: it hangs up.
class tls_server {
public:
    using answerer = std::function<std::string(const std::string& request)>;
    struct options {
        const identity* own = nullptr; ///< without: plain HTTP
        const identity* clients =
            nullptr; ///< who signs for the clients that must show who they are
        int newest_tls = TLS1_3_VERSION;
    };

    tls_server(options how, answerer answer) : how_(how), answer_(std::move(answer)) {
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        bind(listener_, reinterpret_cast<const sockaddr*>(&at), sizeof at);
        listen(listener_, 8);
        getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
        port_ = ntohs(at.sin_port);
        thread_ = std::thread([this] { run(); });
    }
    tls_server(const tls_server&) = delete;
    tls_server& operator=(const tls_server&) = delete;
    ~tls_server() {
        stop_ = true;
        shutdown(listener_, SHUT_RDWR);
        {
            const std::lock_guard lock(mutex_);
            if (serving_ >= 0)
                shutdown(serving_, SHUT_RDWR);
        }
        thread_.join();
        close(listener_);
    }

    [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const {
        return (how_.own ? "https://" : "http://") + host + ":" + std::to_string(port_);
    }
    [[nodiscard]] int connections() const { return connections_; }

private:
    void run() {
        sigset_t pipe;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
        const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                                   &SSL_CTX_free);
        if (how_.own) {
            SSL_CTX_use_certificate(context.get(), how_.own->certificate.get());
            SSL_CTX_use_PrivateKey(context.get(), how_.own->key.get());
            SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
            SSL_CTX_set_max_proto_version(context.get(), how_.newest_tls);
            if (how_.newest_tls < TLS1_2_VERSION)
                SSL_CTX_set_cipher_list(context.get(), "DEFAULT:@SECLEVEL=0");
        }
        if (how_.clients) {
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()),
                                how_.clients->certificate.get());
            SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                               nullptr);
        }
        while (!stop_) {
            const int socket_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket_ < 0)
                return;
            {
                const std::lock_guard lock(mutex_);
                serving_ = socket_;
            }
            ++connections_;
            serve(socket_, context.get());
            const std::lock_guard lock(mutex_);
            serving_ = -1;
            close(socket_);
        }
    }

    void serve(int socket_, SSL_CTX* context) {
        std::unique_ptr<SSL, void (*)(SSL*)> tls(nullptr, &SSL_free);
        if (how_.own) {
            tls.reset(SSL_new(context));
            SSL_set_fd(tls.get(), socket_);
            if (SSL_accept(tls.get()) != 1)
                return;
        }
        std::string got;
        for (char part[4096];;) {
            const std::size_t end = got.find("\r\n\r\n");
            const std::size_t length = got.find("Content-Length: ");
            const std::size_t body =
                end != std::string::npos && length < end ? std::stoul(got.substr(length + 16)) : 0;
            if (end != std::string::npos && got.size() >= end + 4 + body) {
                const std::string said = answer_(got.substr(0, end + 4 + body));
                got.erase(0, end + 4 + body);
                if (said.empty())
                    return;
                const bool hangs_up = said.ends_with('\0');
                const int size = static_cast<int>(said.size() - (hangs_up ? 1 : 0));
                if (tls)
                    SSL_write(tls.get(), said.data(), size);
                else
                    static_cast<void>(
                        send(socket_, said.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL));
                if (hangs_up)
                    return;
                continue;
            }
            const long read = tls ? SSL_read(tls.get(), part, sizeof part)
                                  : static_cast<long>(recv(socket_, part, sizeof part, 0));
            if (read <= 0)
                return;
            got.append(part, static_cast<std::size_t>(read));
        }
    }

    options how_;
    answerer answer_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<bool> stop_ = false;
    std::atomic<int> connections_ = 0;
    std::mutex mutex_;
    int serving_ = -1;
    std::thread thread_;
};

} // namespace muster_test
