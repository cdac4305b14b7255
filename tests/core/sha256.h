// Computes SHA-256 (FIPS 180-4), for golden data that is stored as a digest.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace pentamesh::testing {

// Returns the round constants: the first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
inline std::array<std::uint32_t, 64> sha256_constants() {
    std::array<std::uint32_t, 64> k{};
    std::size_t n = 0;
    for (std::uint64_t prime = 2; n < k.size(); ++prime) {
        bool composite = false;
        for (std::uint64_t d = 2; d * d <= prime; ++d) composite = composite || prime % d == 0;
        if (composite) continue;
        // This needs 35 bits of a double's 53; no root of these is so near to a whole number that the last
        // bits matter.
        const double scaled = std::cbrt(static_cast<double>(prime)) * 4294967296.0;
        k[n++] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(scaled));
    }
    return k;
}

inline std::string sha256(std::string text) {
    static const auto k = sha256_constants();
    const std::uint64_t bits = text.size() * 8;
    text += '\x80';
    while (text.size() % 64 != 56) text += '\0';
    for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(bits >> shift);
    std::array<std::uint32_t, 8> h{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (std::size_t block = 0; block < text.size(); block += 64) {
        std::array<std::uint32_t, 64> w{};
        for (std::size_t i = 0; i < 64; ++i)
            w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(text[block + i]);
        for (std::size_t i = 16; i < 64; ++i) {
            const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
            const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto [a, b, c, d, e, f, g, q] = h;
        for (std::size_t i = 0; i < 64; ++i) {
            const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
            const auto t1 = q + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i];
            const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
            const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            q = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        const std::array<std::uint32_t, 8> step{a, b, c, d, e, f, g, q};
        for (std::size_t i = 0; i < 8; ++i) h[i] += step[i];
    }
    std::string hex;
    for (const std::uint32_t word : h) {
        char digits[9];
        std::snprintf(digits, sizeof digits, "%08x", word);
        hex += digits;
    }
    return hex;
}

}  // namespace pentamesh::testing
