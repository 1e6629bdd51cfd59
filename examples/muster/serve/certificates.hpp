// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <muster/base/assert.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// A certificate and its key, PEM.
struct key_pair {
    std::string certificate;
    std::string key;
};

/// What a certificate is to say.
struct certificate_wish {
    std::string name;              ///< CN
    std::string organization = {}; ///< O: the group of a client
    /// As OpenSSL writes subjectAltName: `DNS:localhost,IP:127.0.0.1`. Empty: none.
    std::string addresses = {};
    /// Seconds from now.
    std::int64_t from = -60;
    std::int64_t until = 10 * 365 * 86'400;
};

namespace detail {

template<auto Free>
struct freed_by {
    template<class T>
    void operator()(T* held) const {
        Free(held);
    }
};
using owned_key = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using owned_certificate = std::unique_ptr<X509, freed_by<X509_free>>;
using owned_bio = std::unique_ptr<BIO, freed_by<BIO_free_all>>;

[[nodiscard]] inline std::string text_in(BIO* from) {
    char* data = nullptr;
    const auto size = BIO_get_mem_data(from, &data);
    return {data, static_cast<std::size_t>(size)};
}

inline void extend(X509* certificate, X509* issuer, int what, const std::string& text) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, &context, what, text.c_str());
    MUSTER_ASSERT(made, "an extension of a test certificate can be made");
    X509_add_ext(certificate, made, -1);
    X509_EXTENSION_free(made);
}

} // namespace detail

/// A certificate authority that lives in memory, for tests and trials.
class certificate_authority {
public:
    explicit certificate_authority(const std::string& name = "muster test authority") {
        key_.reset(EVP_EC_gen("P-256"));
        certificate_ = make({name, {}, {}}, key_.get(), true);
    }

    [[nodiscard]] std::string certificate() const { return text_of(certificate_.get()); }

    [[nodiscard]] key_pair server(const certificate_wish& wish) const {
        return issue(wish, "serverAuth");
    }
    [[nodiscard]] key_pair client(const certificate_wish& wish) const {
        return issue(wish, "clientAuth");
    }

private:
    [[nodiscard]] key_pair issue(const certificate_wish& wish, const std::string& usage) const {
        const detail::owned_key key(EVP_EC_gen("P-256"));
        const detail::owned_certificate made = make(wish, key.get(), false, usage);
        const detail::owned_bio out(BIO_new(BIO_s_mem()));
        PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        return {text_of(made.get()), detail::text_in(out.get())};
    }

    [[nodiscard]] detail::owned_certificate make(const certificate_wish& wish, EVP_PKEY* key,
                                                 bool authority,
                                                 const std::string& usage = {}) const {
        detail::owned_certificate made(X509_new());
        X509_set_version(made.get(), 2);
        ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial_);
        X509_gmtime_adj(X509_getm_notBefore(made.get()), static_cast<long>(wish.from));
        X509_gmtime_adj(X509_getm_notAfter(made.get()), static_cast<long>(wish.until));
        X509_set_pubkey(made.get(), key);
        X509_NAME* const name = X509_get_subject_name(made.get());
        const auto add = [&](const char* field, const std::string& text) {
            if (!text.empty())
                X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                           reinterpret_cast<const unsigned char*>(text.c_str()), -1,
                                           -1, 0);
        };
        add("O", wish.organization);
        add("CN", wish.name);
        X509* const issuer = authority ? made.get() : certificate_.get();
        X509_set_issuer_name(made.get(), X509_get_subject_name(issuer));
        detail::extend(made.get(), issuer, NID_basic_constraints,
                       authority ? "critical,CA:TRUE" : "CA:FALSE");
        detail::extend(made.get(), issuer, NID_subject_key_identifier, "hash");
        if (authority)
            detail::extend(made.get(), issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
        if (!usage.empty())
            detail::extend(made.get(), issuer, NID_ext_key_usage, usage);
        if (!wish.addresses.empty())
            detail::extend(made.get(), issuer, NID_subject_alt_name, wish.addresses);
        X509_sign(made.get(), key_.get(), EVP_sha256());
        return made;
    }

    [[nodiscard]] static std::string text_of(X509* certificate) {
        const detail::owned_bio out(BIO_new(BIO_s_mem()));
        PEM_write_bio_X509(out.get(), certificate);
        return detail::text_in(out.get());
    }

    detail::owned_key key_;
    detail::owned_certificate certificate_;
    mutable long serial_ = 0;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
