#include "core/runs/gzip.h"

#include "core/runs/values.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <zlib.h>

namespace pentamesh::runs {

namespace {

std::string too_much(std::uint64_t most) {
    return "unpacked it is larger than " + std::to_string(most >> 20U) + " MiB, the most that is read of it";
}

}  // namespace

// Unpacks what `more` gives, until it gives nothing.
class Unpacker {
  public:
    explicit Unpacker(std::function<std::string_view()> more) : more_(std::move(more)) {
        constexpr int kGzip = 15 + 16;  // the largest window, a gzip head
        if (inflateInit2(&z_, kGzip) != Z_OK) refuse("gzip could not be unpacked");
    }
    ~Unpacker() { inflateEnd(&z_); }
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    // Returns how many bytes it wrote; 0 at the end.
    std::size_t read(char* to, std::size_t room) {
        const std::size_t made = read_any(to, room);
        made_ += made;
        // Text is packed to a tenth, repeated text to a thirtieth: what is packed far closer says nothing.
        const std::uint64_t most = std::max(kMostUnproved, kMostRatio * fed_);
        if (made_ > most) refuse(too_much(most));
        return made;
    }

  private:
    static constexpr std::uint64_t kMostUnproved = std::uint64_t{256} << 20U, kMostRatio = 100;
    std::size_t read_any(char* to, std::size_t room) {
        while (true) {
            const bool any = z_.avail_in > 0 || feed();
            if (ended_) {
                // Several may follow each other in one file; what is no gzip after one is not looked at.
                if (!any || z_.next_in[0] != 0x1f || inflateReset(&z_) != Z_OK) return 0;
                ended_ = false;
            }
            z_.next_out = reinterpret_cast<Bytef*>(to);
            z_.avail_out = static_cast<uInt>(room);
            const int state = inflate(&z_, Z_NO_FLUSH);
            const std::size_t made = room - z_.avail_out;
            ended_ = state == Z_STREAM_END;
            if (!ended_ && state != Z_OK && state != Z_BUF_ERROR) refuse("the gzip file is damaged");
            if (made > 0) return made;
            if (!ended_ && !any) refuse("the gzip file is cut off");
        }
    }

    bool feed() {
        if (rest_.empty()) rest_ = more_();
        const std::size_t part = std::min(rest_.size(), std::size_t{1} << 30U);
        z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
        z_.avail_in = static_cast<uInt>(part);
        rest_.remove_prefix(part);
        fed_ += part;
        return part > 0;
    }
    std::function<std::string_view()> more_;
    std::string_view rest_;
    z_stream z_{};
    std::uint64_t fed_ = 0, made_ = 0;  // bytes
    bool ended_ = false;
};

bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b");
}

void unpack_gzip(std::string_view bytes, std::size_t most, std::string& out) {
    out.clear();
    Unpacker unpacker([&] { return std::exchange(bytes, {}); });
    std::array<char, std::size_t{1} << 16U> block{};
    while (const std::size_t made = unpacker.read(block.data(), block.size())) {
        if (out.size() + made > most) refuse(too_much(most));
        out.append(block.data(), made);
    }
}

UnpackedBytes::UnpackedBytes(std::istream& from) : from_(from), packed_(std::size_t{1} << 18U) {}
UnpackedBytes::~UnpackedBytes() = default;

std::string_view UnpackedBytes::next_packed() {
    from_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
    return {packed_.data(), static_cast<std::size_t>(from_.gcount())};
}

UnpackedBytes::int_type UnpackedBytes::underflow() {
    constexpr std::uint64_t kMostBetweenMarks = std::uint64_t{64} << 20U;
    if (gptr() == egptr()) {
        std::string_view bytes;
        if (!begun_) {
            begun_ = true;
            bytes = next_packed();
            if (is_gzip(bytes)) {
                block_.resize(packed_.size());
                unpacker_ = std::make_unique<Unpacker>([this, first = bytes]() mutable {
                    return first.empty() ? next_packed() : std::exchange(first, {});
                });
            }
        } else if (!unpacker_) {
            bytes = next_packed();
        }
        if (unpacker_) bytes = {block_.data(), unpacker_->read(block_.data(), block_.size())};
        since_mark_ += bytes.size();
        if (since_mark_ > kMostBetweenMarks) refuse("a single value or line is longer than 64 MiB");
        char* begin = const_cast<char*>(bytes.data());
        setg(begin, begin, begin + bytes.size());
    }
    return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

std::string_view UnpackedBytes::peek() {
    static_cast<void>(underflow());
    return {gptr(), static_cast<std::size_t>(egptr() - gptr())};
}

}  // namespace pentamesh::runs
