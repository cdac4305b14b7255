#include "render/png.h"

#include "core/base/files.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <png.h>

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

// It is checked before libpng is started: a constructor that throws is not followed by its destructor.
std::string_view with_signature(std::string_view b) {
    if (b.size() < 8 || png_sig_cmp(reinterpret_cast<png_const_bytep>(b.data()), 0, 8) != 0)
        refuse("not a PNG picture");
    return b;
}

struct Reader {
    Failure failure;
    std::string_view bytes;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure, on_error, on_warning);
    png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
    std::vector<png_bytep> rows;  // of the picture

    explicit Reader(std::string_view b) : bytes(with_signature(b)) {
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

// Returns the picture up to its pixels, with the texts that stand behind them before them; empty: there are
// none.
std::string texts_before_pixels(std::string_view bytes) {
    constexpr std::size_t kFrame = 12;  // length, name and checksum
    std::string_view pixels;
    std::string head, texts;
    for (std::size_t at = 8; bytes.size() - at >= kFrame;) {
        std::size_t length = kFrame;
        for (std::size_t i = 0; i < 4; ++i)
            length += std::size_t{static_cast<unsigned char>(bytes[at + i])} << (24 - 8 * i);
        if (length > bytes.size() - at) break;
        const std::string_view chunk = bytes.substr(at, length), name = chunk.substr(4, 4);
        at += length;
        if (name == "IDAT" && pixels.empty()) head = bytes.substr(0, at - length), pixels = chunk;
        if (!pixels.empty() && (name == "tEXt" || name == "zTXt" || name == "iTXt")) texts += chunk;
    }
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
