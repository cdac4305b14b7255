// Gives bytes to the reader of pictures with a plan inside.
#include "core/base/files.h"
#include "render/png.h"
#include "tests/fuzz/fuzz.h"

#include <cstdint>

using namespace pentamesh;
using namespace pentamesh::fuzz;

namespace {

constexpr std::size_t kHead = 8;  // the signature

std::uint32_t big_endian(std::string_view at) {
    std::uint32_t v = 0;
    for (std::size_t i = 0; i < 4; ++i) v = v << 8U | static_cast<unsigned char>(at[i]);
    return v;
}

std::uint32_t checksum(std::string_view bytes) {  // CRC-32 as ISO 3309 has it
    std::uint32_t c = ~0U;
    for (const char byte : bytes) {
        c ^= static_cast<unsigned char>(byte);
        for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? 0xedb88320U ^ c >> 1U : c >> 1U;
    }
    return ~c;
}

// Corrects the checksums, so that the reader does not stop at once at a changed byte.
std::string with_right_checksums(std::string bytes) {
    for (std::size_t at = kHead; at + 12 <= bytes.size();) {
        const std::uint64_t length = big_endian(std::string_view(bytes).substr(at));
        if (length > bytes.size() - at - 12) break;
        const std::size_t sum_at = at + 8 + length;
        const std::uint32_t sum = checksum(std::string_view(bytes).substr(at + 4, 4 + length));
        for (std::size_t i = 0; i < 4; ++i) bytes[sum_at + i] = static_cast<char>(sum >> (24 - 8 * i));
        at = sum_at + 4;
    }
    return bytes;
}

// A header may ask for a picture that takes a second to skip: legal, and too slow for a fuzzer.
bool quick(std::string_view bytes) {
    if (bytes.size() < kHead + 16) return true;
    const std::uint64_t width = big_endian(bytes.substr(kHead + 8)),
                        height = big_endian(bytes.substr(kHead + 12));
    return width <= 512 && height <= 512;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string bytes = with_right_checksums(std::string(text_of(data, size)));
    if (!quick(bytes)) return 0;
    try {
        static_cast<void>(read_png_text(bytes, "pentamesh.plan"));
    } catch (const Error&) {
    }
    try {
        const Image image = decode_png(bytes);
        const auto pixels = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
        if (image.pixels.size() != 4 * pixels) complain("a picture has no room for its pixels", bytes);
        if (pixels < 10000 && decode_png(encode_png(image, {})).pixels != image.pixels)
            complain("a picture reads differently from what was written", bytes);
    } catch (const Error&) {
    }
    return 0;
}
