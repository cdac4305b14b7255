#include "core/runs/gzip.h"

#include "core/runs/values.h"

#include <algorithm>
#include <array>
#include <zlib.h>

namespace pentamesh::runs {
namespace {

// Ends the stream when the reading ends in any way.
struct Stream {
    z_stream z{};
    Stream() {
        constexpr int kGzip = 15 + 16;  // the largest window, a gzip head
        if (inflateInit2(&z, kGzip) != Z_OK) refuse("gzip could not be unpacked");
    }
    ~Stream() { inflateEnd(&z); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
};

}  // namespace

bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b");
}

void unpack_gzip(std::string_view bytes, std::size_t most, std::string& out) {
    out.clear();
    Stream stream;
    z_stream& z = stream.z;
    std::array<char, std::size_t{1} << 16U> block{};
    std::size_t at = 0;
    for (int state = Z_OK;;) {
        if (z.avail_in == 0) {
            const std::size_t part = std::min(bytes.size() - at, std::size_t{1} << 30U);
            z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + at));
            z.avail_in = static_cast<uInt>(part);
            at += part;
        }
        if (state == Z_STREAM_END) {
            if (z.avail_in == 0) return;
            // Several may follow each other in one file; what is no gzip after one is not looked at.
            if (z.next_in[0] != 0x1f || inflateReset(&z) != Z_OK) return;
        }
        z.next_out = reinterpret_cast<Bytef*>(block.data());
        z.avail_out = static_cast<uInt>(block.size());
        state = inflate(&z, Z_NO_FLUSH);
        const std::size_t made = block.size() - z.avail_out;
        if (out.size() + made > most) refuse("unpacked it is larger than the most that is read");
        out.append(block.data(), made);
        if (state == Z_STREAM_END) continue;
        if (state == Z_BUF_ERROR && at >= bytes.size()) refuse("the gzip file is cut off");
        if (state != Z_OK && state != Z_BUF_ERROR) refuse("the gzip file is damaged");
        if (z.avail_in == 0 && at >= bytes.size() && made == 0) refuse("the gzip file is cut off");
    }
}

}  // namespace pentamesh::runs
