#include "render/png.h"

#include "core/base/files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <png.h>
#include <zlib.h>

namespace pentamesh {

namespace {

// Texts are packed: libpng unpacks at most so many, each of at most so many bytes.
constexpr std::size_t kMostText = 8U << 20U;
constexpr int kMostTexts = 32;
constexpr std::size_t kMostPixels = 1U << 30U;  // bytes

// libpng reports an error by a call that must not return. It jumps back to the one function that set the mark
// (guarded); no C++ exception crosses libpng's frames, and nothing with a destructor lives between the two.
struct Failure {
    std::jmp_buf back{};
    std::array<char, 128> message{};
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
    auto& failure = *static_cast<Failure*>(png_get_error_ptr(png));
    std::strncpy(failure.message.data(), message, failure.message.size() - 1);
    std::longjmp(failure.back, 1);
}
void on_warning(png_structp, png_const_charp) {}

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorKind::invalid, "", "", why);
}

// Calls `step(data)`, a function of C calls and plain values, and throws what libpng reports in it.
void guarded(Failure& failure, void (*step)(void*), void* data) {
    if (setjmp(failure.back) == 0) {
        step(data);
        return;
    }
    refuse("not a usable PNG picture: " + std::string(failure.message.data()));
}
// Does the same for a member function of a struct.
template <auto Step, typename T>
void guarded(Failure& failure, T& data) {
    guarded(
        failure, [](void* p) { (static_cast<T*>(p)->*Step)(); }, &data);
}

struct Writer {
    Failure failure;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure, on_error, on_warning);
    png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
    const Image& image;
    std::vector<png_text> chunks;
    std::string out;

    explicit Writer(const Image& of) : image(of) {
        if (info == nullptr) {
            png_destroy_write_struct(&png, nullptr);
            throw Error(ErrorKind::io, "", "", "libpng could not start");
        }
        png_set_write_fn(png, this, append, [](png_structp) {});
    }
    ~Writer() { png_destroy_write_struct(&png, &info); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // Memory that runs out is libpng's error, not an exception in its frames.
    static void append(png_structp p, png_bytep data, png_size_t n) {
        bool appended = false;
        try {
            static_cast<Writer*>(png_get_io_ptr(p))->out.append(reinterpret_cast<const char*>(data), n);
            appended = true;
        } catch (const std::exception&) {
            appended = false;
        }
        if (!appended) png_error(p, "out of memory");
    }

    void write() {
        png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
                     8, PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                     PNG_FILTER_TYPE_DEFAULT);
        if (!chunks.empty()) png_set_text(png, info, chunks.data(), static_cast<int>(chunks.size()));
        png_write_info(png, info);
        const auto row = static_cast<std::size_t>(image.width) * 4;
        for (int y = 0; y < image.height; ++y)
            png_write_row(png, image.pixels.data() + static_cast<std::size_t>(y) * row);
        png_write_end(png, info);
    }
};

constexpr std::size_t kSignature = 8, kChunkFrame = 12;  // of a chunk: length, name and checksum

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < 4; ++i) n = n << 8U | static_cast<unsigned char>(bytes[at + i]);
    return n;
}

// Returns `b` where its head can be read. libpng makes room for all that a chunk says it has before it sees
// that the bytes end; only pixels are read in pieces. This is checked before libpng is started: a
// constructor that throws is not followed by its destructor.
std::string_view with_whole_head(std::string_view b) {
    if (b.size() < kSignature || png_sig_cmp(reinterpret_cast<png_const_bytep>(b.data()), 0, kSignature) != 0)
        refuse("not a PNG picture");
    constexpr std::size_t kStart = 8;  // a chunk's length and name
    for (std::size_t at = kSignature; b.size() - at >= kStart;) {
        if (b.substr(at + 4, 4) == "IDAT") break;
        const std::size_t length = number_at(b, at), follow = b.size() - at - kStart;
        if (length + kChunkFrame - kStart > follow)
            refuse("not a usable PNG picture: a part of it says that it has " + std::to_string(length)
                   + " bytes and a checksum, and " + std::to_string(follow) + " bytes follow");
        at += length + kChunkFrame;
    }
    return b;
}

struct Reader {
    Failure failure;
    std::string_view bytes;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure, on_error, on_warning);
    png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
    std::vector<png_bytep> rows;  // of the picture

    explicit Reader(std::string_view b) : bytes(with_whole_head(b)) {
        if (info == nullptr) {
            png_destroy_read_struct(&png, nullptr, nullptr);
            throw Error(ErrorKind::io, "", "", "libpng could not start");
        }
        png_set_user_limits(png, 65535, 65535);
        png_set_chunk_malloc_max(png, kMostText);
        png_set_chunk_cache_max(png, kMostTexts + 1);  // libpng's own count is one more
        png_set_read_fn(png, this, [](png_structp p, png_bytep out, png_size_t n) {
            auto& self = *static_cast<Reader*>(png_get_io_ptr(p));
            if (n > self.bytes.size()) png_error(p, "it ends too early");
            std::memcpy(out, self.bytes.data(), n);
            self.bytes.remove_prefix(n);
        });
    }
    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    void read_head() { png_read_info(png, info); }
    // The size of packed bytes does not say how many come out of them.
    void check_size() const {
        if (png_get_rowbytes(png, info) * png_get_image_height(png, info) > kMostPixels)
            refuse("the PNG picture has more than " + std::to_string(kMostPixels >> 20U)
                   + " MiB of pixels, the most that is read");
    }
    void settle_as_rgba() {
        png_set_expand(png);
        png_set_strip_16(png);
        png_set_gray_to_rgb(png);
        png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
        png_set_interlace_handling(png);
        png_read_update_info(png, info);
    }
    void read_pixels() { png_read_image(png, rows.data()); }

    [[nodiscard]] std::optional<std::string> text_of(std::string_view key) const {
        png_textp text = nullptr;
        int n = 0;
        png_get_text(png, info, &text, &n);
        for (int i = 0; i < n; ++i)
            if (text[i].key == key) {
                const std::size_t length = text[i].compression >= PNG_ITXT_COMPRESSION_NONE
                                               ? text[i].itxt_length
                                               : text[i].text_length;
                return std::string(text[i].text, std::min(length, kMostText));
            }
        return std::nullopt;
    }
};

}  // namespace

std::string encode_png(const Image& image, const std::vector<PngText>& text) {
    Writer w(image);
    for (const PngText& t : text) {
        png_text c{};
        c.compression = PNG_ITXT_COMPRESSION_zTXt;
        c.key = const_cast<png_charp>(t.key.c_str());
        c.text = const_cast<png_charp>(t.utf8.c_str());
        c.itxt_length = t.utf8.size();
        w.chunks.push_back(c);
    }
    guarded<&Writer::write>(w.failure, w);
    return std::move(w.out);
}

namespace {

std::string big_endian(std::uint32_t n, int bytes = 4) {
    std::string out;
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(n >> (8 * i) & 255U);
    return out;
}
std::string chunk_of(std::string_view name, std::string_view data) {
    const std::string body = std::string(name) + std::string(data);
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return big_endian(static_cast<std::uint32_t>(data.size())) + body
           + big_endian(static_cast<std::uint32_t>(sum));
}

// Calls use(name, data, whole chunk) for each chunk that a PNG holds whole.
template <typename F>
void each_chunk(std::string_view png, F&& use) {
    for (std::size_t at = kSignature; png.size() - at >= kChunkFrame;) {
        const std::size_t length = number_at(png, at);
        if (length > png.size() - at - kChunkFrame) break;
        use(png.substr(at + 4, 4), png.substr(at + 8, length), png.substr(at, length + kChunkFrame));
        at += length + kChunkFrame;
    }
}

struct Cut {
    int x = 0, y = 0;
    Image image;
};
// Returns the rectangle of `now` that differs from `before`; a pixel where nothing does.
Cut changed_part(const Image& before, const Image& now) {
    int x0 = now.width, y0 = now.height, x1 = 0, y1 = 0;
    const auto row = static_cast<std::size_t>(now.width) * 4;
    for (int y = 0; y < now.height; ++y) {
        const std::uint8_t *a = before.pixels.data() + static_cast<std::size_t>(y) * row,
                           *b = now.pixels.data() + static_cast<std::size_t>(y) * row;
        if (std::equal(b, b + row, a)) continue;
        y0 = std::min(y0, y), y1 = y + 1;
        const auto first = static_cast<int>(std::mismatch(b, b + row, a).first - b) / 4;
        int last = now.width - 1;
        while (last > first
               && std::equal(b + static_cast<std::size_t>(last) * 4,
                             b + static_cast<std::size_t>(last) * 4 + 4,
                             a + static_cast<std::size_t>(last) * 4))
            --last;
        x0 = std::min(x0, first), x1 = std::max(x1, last + 1);
    }
    if (x0 >= x1) x0 = y0 = 0, x1 = y1 = 1;
    Cut out{x0, y0, {x1 - x0, y1 - y0, {}}};
    for (int y = y0; y < y1; ++y) {
        const auto from =
            now.pixels.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(y) * row)) + x0 * 4;
        out.image.pixels.insert(out.image.pixels.end(), from, from + (x1 - x0) * 4);
    }
    return out;
}

}  // namespace

std::string encode_moving_png(const std::vector<MovingFrame>& frames, const std::vector<PngText>& text) {
    std::string out;
    std::uint32_t sequence = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const Cut cut =
            i == 0 ? Cut{0, 0, frames[0].image} : changed_part(frames[i - 1].image, frames[i].image);
        const std::string png = encode_png(cut.image, i == 0 ? text : std::vector<PngText>{});
        const auto milliseconds = static_cast<std::uint32_t>(std::lround(frames[i].seconds * 1000));
        // It is drawn over what stands there, and stays: dispose none, blend source.
        const auto control = [&] {
            return chunk_of("fcTL",
                            big_endian(sequence++) + big_endian(static_cast<std::uint32_t>(cut.image.width))
                                + big_endian(static_cast<std::uint32_t>(cut.image.height))
                                + big_endian(static_cast<std::uint32_t>(cut.x))
                                + big_endian(static_cast<std::uint32_t>(cut.y)) + big_endian(milliseconds, 2)
                                + big_endian(1000, 2) + std::string(2, '\0'));
        };
        if (i == 0) out = png.substr(0, kSignature);
        bool begun = false;
        each_chunk(png, [&](std::string_view name, std::string_view data, std::string_view whole) {
            if (name == "IDAT" && !begun) out += control(), begun = true;
            if (i > 0) {
                if (name == "IDAT") out += chunk_of("fdAT", big_endian(sequence++) + std::string(data));
                return;
            }
            if (name == "IEND") return;
            out += whole;
            if (name == "IHDR")
                out +=
                    chunk_of("acTL", big_endian(static_cast<std::uint32_t>(frames.size())) + big_endian(0));
        });
    }
    return out.empty() ? out : out + chunk_of("IEND", {});
}

namespace {

// Returns the picture up to its pixels, with the texts that stand behind them before them; empty: there are
// none.
std::string texts_before_pixels(std::string_view bytes) {
    std::string_view pixels;
    std::string head, texts;
    each_chunk(bytes, [&](std::string_view name, std::string_view, std::string_view chunk) {
        if (name == "IDAT" && pixels.empty())
            head = bytes.substr(0, static_cast<std::size_t>(chunk.data() - bytes.data())), pixels = chunk;
        if (!pixels.empty() && (name == "tEXt" || name == "zTXt" || name == "iTXt")) texts += chunk;
    });
    return texts.empty() ? "" : head + texts + std::string(pixels);
}

}  // namespace

std::optional<std::string> read_png_text(std::string_view bytes, std::string_view key) {
    Reader r(bytes);
    guarded<&Reader::read_head>(r.failure, r);
    if (auto text = r.text_of(key)) return text;
    // Some programs put the text after the pixels, which are not unpacked to get at it.
    const std::string moved = texts_before_pixels(bytes);
    if (moved.empty()) return std::nullopt;
    Reader behind(moved);
    guarded<&Reader::read_head>(behind.failure, behind);
    return behind.text_of(key);
}

Image decode_png(std::string_view bytes) {
    Reader r(bytes);
    guarded<&Reader::read_head>(r.failure, r);
    guarded<&Reader::settle_as_rgba>(r.failure, r);
    Image image{static_cast<int>(png_get_image_width(r.png, r.info)),
                static_cast<int>(png_get_image_height(r.png, r.info)),
                {}};
    const auto row = static_cast<std::size_t>(image.width) * 4;
    if (png_get_rowbytes(r.png, r.info) != row) refuse("a PNG picture of a kind that is not read");
    r.check_size();
    image.pixels.resize(row * static_cast<std::size_t>(image.height));
    for (int y = 0; y < image.height; ++y)
        r.rows.push_back(image.pixels.data() + static_cast<std::size_t>(y) * row);
    guarded<&Reader::read_pixels>(r.failure, r);
    return image;
}

}  // namespace pentamesh
