#include "core/base/sha256.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pentamesh {

namespace {

using State = std::array<std::uint32_t, 8>;

// Returns the first 32 bits of the fractions of the square (root 2) or cube (root 3) roots of the first
// primes. It uses only whole numbers: the largest x with x^root <= prime * 2^(32 root).
template <std::size_t N>
constexpr std::array<std::uint32_t, N> root_bits(int root) {
    std::array<std::uint32_t, N> out{};
    std::size_t n = 0;
    for (std::uint64_t prime = 2; n < N; ++prime) {
        bool composite = false;
        for (std::uint64_t d = 2; d * d <= prime; ++d) composite = composite || prime % d == 0;
        if (composite) continue;
        // The root is found bit by bit; the power is kept in pieces of 32 bits.
        std::uint64_t x = 0;
        for (int bit = 37; bit >= 0; --bit) {
            const std::uint64_t with = x | std::uint64_t{1} << static_cast<unsigned>(bit);
            std::array<std::uint64_t, 5> power{1, 0, 0, 0, 0};
            for (int k = 0; k < root; ++k) {
                std::array<std::uint64_t, 5> next{};
                for (std::size_t i = 0; i < 5; ++i)
                    for (std::size_t j = 0; j < 2 && i + j < 5; ++j) {
                        const std::uint64_t product = power[i] * (j == 0 ? with & 0xffffffffU : with >> 32U);
                        std::uint64_t carry = product;
                        for (std::size_t at = i + j; at < 5 && carry != 0; ++at) {
                            const std::uint64_t sum = next[at] + (carry & 0xffffffffU);
                            next[at] = sum & 0xffffffffU;
                            carry = (carry >> 32U) + (sum >> 32U);
                        }
                    }
                power = next;
            }
            bool above = false;  // power > prime << 32 root
            for (std::size_t i = 4;; --i) {
                const std::uint64_t limit = i == static_cast<std::size_t>(root) ? prime : 0;
                if (power[i] != limit) {
                    above = power[i] > limit;
                    break;
                }
                if (i == 0) break;
            }
            if (!above) x = with;
        }
        out[n++] = static_cast<std::uint32_t>(x & 0xffffffffU);
    }
    return out;
}

void take_block(State& h, const unsigned char* block, const std::array<std::uint32_t, 64>& k) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i)
        for (std::size_t b = 0; b < 4; ++b) w[i] = w[i] << 8U | block[4 * i + b];
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3U) + w[i - 7]
               + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10U);
    }
    State s = h;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t one = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
        const std::uint32_t pick = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const std::uint32_t first = s[7] + one + pick + k[i] + w[i];
        const std::uint32_t zero = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
        const std::uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        s = {first + zero + most, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (std::size_t i = 0; i < 8; ++i) h[i] += s[i];
}

}  // namespace

std::string sha256_of(std::string_view bytes) {
    static const auto k = root_bits<64>(3);
    State h = root_bits<8>(2);
    std::string text(bytes);
    const std::uint64_t bits = std::uint64_t{text.size()} * 8;
    text += static_cast<char>(0x80);
    text.append((120 - text.size() % 64) % 64, '\0');
    for (unsigned shift = 64; shift != 0;) {
        shift -= 8;
        text += static_cast<char>(bits >> shift & 255U);
    }
    for (std::size_t at = 0; at < text.size(); at += 64)
        take_block(h, reinterpret_cast<const unsigned char*>(text.data()) + at, k);
    std::string out;
    for (const std::uint32_t word : h)
        for (unsigned shift = 32; shift != 0;) {
            shift -= 4;
            out += "0123456789abcdef"[word >> shift & 15U];
        }
    return out;
}

}  // namespace pentamesh
