#include "render/png.h"

#include "core/base/error.h"

#include <algorithm>
#include <cstring>
#include <png.h>

namespace pentamesh {

namespace {

constexpr std::size_t kMostText = 64U << 20U;

// libpng reports by a call that must not return; exceptions pass through its frames because it keeps none of
// its own state on the stack that would need them (it is told to free everything by its destroy functions, in
// the guards below).
[[noreturn]] void on_error(png_structp, png_const_charp message) {
    throw Error(ErrorKind::invalid, "", "", std::string("not a usable PNG picture: ") + message);
}
void on_warning(png_structp, png_const_charp) {}

struct Writer {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, on_error, on_warning);
    png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
    Writer() {
        if (info == nullptr) {
            png_destroy_write_struct(&png, nullptr);
            throw Error(ErrorKind::io, "", "", "libpng could not start");
        }
    }
    ~Writer() { png_destroy_write_struct(&png, &info); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
};

// Checked before libpng is started: a constructor that throws is not followed by its destructor.
std::string_view with_signature(std::string_view b) {
    if (b.size() < 8 || png_sig_cmp(reinterpret_cast<png_const_bytep>(b.data()), 0, 8) != 0)
        throw Error(ErrorKind::invalid, "", "", "not a PNG picture");
    return b;
}

struct Reader {
    std::string_view bytes;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, on_error, on_warning);
    png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
    explicit Reader(std::string_view b) : bytes(with_signature(b)) {
        if (info == nullptr) {
            png_destroy_read_struct(&png, nullptr, nullptr);
            throw Error(ErrorKind::io, "", "", "libpng could not start");
        }
        png_set_user_limits(png, 65535, 65535);
        png_set_chunk_malloc_max(png, kMostText);
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
};

}  // namespace

std::string encode_png(const Image& image, const std::vector<PngText>& text) {
    std::string out;
    Writer w;
    png_set_write_fn(
        w.png, &out,
        [](png_structp p, png_bytep data, png_size_t n) {
            static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<const char*>(data), n);
        },
        [](png_structp) {});
    png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
                 8, PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    std::vector<png_text> chunks;
    for (const PngText& t : text) {
        png_text c{};
        c.compression = PNG_ITXT_COMPRESSION_zTXt;
        c.key = const_cast<png_charp>(t.key.c_str());
        c.text = const_cast<png_charp>(t.utf8.c_str());
        c.itxt_length = t.utf8.size();
        chunks.push_back(c);
    }
    if (!chunks.empty()) png_set_text(w.png, w.info, chunks.data(), static_cast<int>(chunks.size()));
    png_write_info(w.png, w.info);
    const auto row = static_cast<std::size_t>(image.width) * 4;
    for (int y = 0; y < image.height; ++y)
        png_write_row(w.png, image.pixels.data() + static_cast<std::size_t>(y) * row);
    png_write_end(w.png, w.info);
    return out;
}

std::optional<std::string> read_png_text(std::string_view bytes, std::string_view key) {
    Reader r(bytes);
    png_read_info(r.png, r.info);
    const auto find = [&]() -> std::optional<std::string> {
        png_textp text = nullptr;
        int n = 0;
        png_get_text(r.png, r.info, &text, &n);
        for (int i = 0; i < n; ++i)
            if (text[i].key == key) {
                const std::size_t length = text[i].compression >= PNG_ITXT_COMPRESSION_NONE
                                               ? text[i].itxt_length
                                               : text[i].text_length;
                return std::string(text[i].text, std::min(length, kMostText));
            }
        return std::nullopt;
    };
    if (auto text = find()) return text;
    // Some programs put it behind the pixels: they are read past, a row at a time.
    const int passes = png_set_interlace_handling(r.png);
    png_read_update_info(r.png, r.info);
    std::vector<png_byte> row(png_get_rowbytes(r.png, r.info));
    for (int pass = 0; pass < passes; ++pass)
        for (png_uint_32 y = png_get_image_height(r.png, r.info); y > 0; --y)
            png_read_row(r.png, row.data(), nullptr);
    png_read_end(r.png, r.info);
    return find();
}

Image decode_png(std::string_view bytes) {
    Reader r(bytes);
    png_read_info(r.png, r.info);
    png_set_expand(r.png);
    png_set_strip_16(r.png);
    png_set_gray_to_rgb(r.png);
    png_set_add_alpha(r.png, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(r.png);
    png_read_update_info(r.png, r.info);
    Image image{static_cast<int>(png_get_image_width(r.png, r.info)),
                static_cast<int>(png_get_image_height(r.png, r.info)),
                {}};
    const auto row = static_cast<std::size_t>(image.width) * 4;
    if (png_get_rowbytes(r.png, r.info) != row)
        throw Error(ErrorKind::invalid, "", "", "a PNG picture of a kind that is not read");
    if (row * static_cast<std::size_t>(image.height) > (1ULL << 30U))
        throw Error(ErrorKind::invalid, "", "", "the PNG picture is too large");
    image.pixels.resize(row * static_cast<std::size_t>(image.height));
    std::vector<png_bytep> rows;
    for (int y = 0; y < image.height; ++y)
        rows.push_back(image.pixels.data() + static_cast<std::size_t>(y) * row);
    png_read_image(r.png, rows.data());
    return image;
}

}  // namespace pentamesh
