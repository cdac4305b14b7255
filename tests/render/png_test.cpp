#include "core/base/files.h"
#include "render/png.h"
#include "tests/near.h"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <random>
#include <zlib.h>

using namespace pentamesh;
using test::near;

namespace {

Image noise(int w, int h) {
    std::mt19937 random(3);
    Image image{w, h, {}};
    image.pixels.resize(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * 4);
    for (auto& p : image.pixels) p = static_cast<std::uint8_t>(random());
    return image;
}

}  // namespace

TEST_CASE("A PNG gives back its pixels and its text") {
    const Image image = noise(37, 21);
    const std::string plan = "{\"name\": \"Σ – 16,384\"}" + std::string(100000, ' ');
    const std::string bytes = encode_png(image, {{"Title", "a"}, {"pentamesh.plan", plan}});
    CHECK(bytes == encode_png(image, {{"Title", "a"}, {"pentamesh.plan", plan}}));
    const Image back = decode_png(bytes);
    CHECK(back.width == 37);
    CHECK(back.pixels == image.pixels);
    CHECK(read_png_text(bytes, "pentamesh.plan") == plan);
    CHECK(read_png_text(bytes, "Title") == "a");
    CHECK_FALSE(read_png_text(bytes, "other").has_value());
}

TEST_CASE("Text that another program moved behind the pixels is found") {
    const std::string bytes = encode_png(noise(5, 5), {{"pentamesh.plan", "{\"a\": 1}"}});
    const std::size_t text = bytes.find("iTXt") - 4;
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[text + 2]) * 256
                                                 + static_cast<unsigned char>(bytes[text + 3]))
                        + 12;
    const std::string chunk = bytes.substr(text, length);
    std::string moved = bytes.substr(0, text) + bytes.substr(text + length);
    moved.insert(moved.size() - 12, chunk);
    CHECK(read_png_text(moved, "pentamesh.plan") == "{\"a\": 1}");
}

TEST_CASE(
    "What is no PNG, or is cut short anywhere, or has any byte changed, is refused or read, never worse") {
    CHECK_THROWS_AS(static_cast<void>(decode_png("")), Error);
    CHECK_THROWS_AS(static_cast<void>(decode_png("GIF89a and more")), Error);
    CHECK_THROWS_AS(static_cast<void>(read_png_text("\x89PNG", "k")), Error);
    const std::string good = encode_png(noise(9, 9), {{"pentamesh.plan", std::string(300, 'x')}});
    for (std::size_t n = 8; n + 13 < good.size(); n += 3)
        CHECK_THROWS_AS(static_cast<void>(decode_png(good.substr(0, n))), Error);
    std::mt19937 random(11);
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        std::string bad = good;
        bad[8 + random() % (bad.size() - 8)] = static_cast<char>(random());
        std::size_t bytes = 0;
        try {
            bytes = decode_png(bad).pixels.size();
            static_cast<void>(read_png_text(bad, "pentamesh.plan"));
        } catch (const Error&) {
            ++refused;
        }
        REQUIRE(bytes <= 4 * 65535 * 9);
    }
    CHECK(refused > 500);
}

TEST_CASE("A header that claims more than can be held is refused before anything is allocated") {
    std::string bytes = encode_png(noise(2, 2), {});
    // Width and height 65535: the checksum of the header goes with them, as a real file's would.
    const unsigned char header[] = {0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 8, 6, 0, 0, 0};
    std::string body = "IHDR" + std::string(reinterpret_cast<const char*>(header), sizeof header);
    std::uint32_t crc = 0xffffffffU;
    for (const char c : body) {
        crc ^= static_cast<unsigned char>(c);
        for (int k = 0; k < 8; ++k) crc = (crc & 1U) != 0 ? 0xedb88320U ^ crc >> 1U : crc >> 1U;
    }
    crc = ~crc;
    for (int s = 24; s >= 0; s -= 8) body += static_cast<char>(crc >> static_cast<unsigned>(s));
    bytes.replace(12, body.size(), body);
    CHECK_THROWS_AS(static_cast<void>(decode_png(bytes)), Error);
}

TEST_CASE("A part that claims more bytes than follow is refused before libpng makes room for them") {
    const std::string good = encode_png(noise(2, 2), {{"pentamesh.plan", "{}"}});
    std::string bad = good;
    bad.replace(good.find("iTXt") - 4, 4, std::string("\x74\0\x01\x42", 4));
    const auto refusal = [](auto read) {
        try {
            read();
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    const std::string claims = "says that it has 1946157378 bytes";
    CHECK(refusal([&] { static_cast<void>(decode_png(bad)); }).find(claims) != std::string::npos);
    CHECK(refusal([&] { static_cast<void>(read_png_text(bad, "k")); }).find(claims) != std::string::npos);
    // Pixels that were cut short still follow their plan.
    const std::string cut = good.substr(0, good.find("IDAT") + 6);
    CHECK(read_png_text(cut, "pentamesh.plan") == "{}");
}

TEST_CASE(
    "text that is packed far too closely is not unpacked, and a picture of far too many pixels is refused") {
    std::vector<PngText> many(100, {"k", std::string(1U << 20U, ' ')});
    many.push_back({"pentamesh.plan", "{}"});
    CHECK_FALSE(read_png_text(encode_png(noise(2, 2), many), "pentamesh.plan").has_value());
    const std::string large(std::size_t{9} << 20U, ' ');
    CHECK_FALSE(
        read_png_text(encode_png(noise(2, 2), {{"pentamesh.plan", large}}), "pentamesh.plan").has_value());
    const std::string most(std::size_t{7} << 20U, ' ');
    CHECK(read_png_text(encode_png(noise(2, 2), {{"pentamesh.plan", most}}), "pentamesh.plan") == most);
}

TEST_CASE(
    "a moving PNG holds each picture as what changed, and its first for readers that know no movement") {
    Image first{40, 30, std::vector<std::uint8_t>(40 * 30 * 4, 255)};
    const auto dot = [](Image& image, int x, int y, std::uint8_t value) {
        for (int c = 0; c < 3; ++c)
            image.pixels[static_cast<std::size_t>((y * image.width + x) * 4 + c)] = value;
    };
    Image second = first, third;
    dot(second, 3, 4, 10), dot(second, 20, 25, 90);
    third = second;
    dot(third, 39, 29, 7);
    const std::vector<MovingFrame> frames{{first, 1.5}, {second, 0.1}, {second, 0.1}, {third, 2}};
    const std::string png = encode_moving_png(frames, {{"pentamesh.plan", "{}"}});
    CHECK(decode_png(png).pixels == first.pixels);
    CHECK(read_png_text(png, "pentamesh.plan") == "{}");

    // Reads the chunks as the standard has them: each picture is the one before with a part drawn over it.
    const auto number = [](std::string_view b, std::size_t at, std::size_t bytes = 4) {
        std::uint32_t n = 0;
        for (std::size_t i = 0; i < bytes; ++i) n = n << 8U | static_cast<unsigned char>(b[at + i]);
        return n;
    };
    const std::string plain = encode_png(first, {});
    const auto as_png = [&](std::uint32_t w, std::uint32_t h, const std::string& data) {
        const auto chunk = [](const std::string& name, const std::string& body) {
            const auto big = [](std::uint32_t n) {
                return std::string{static_cast<char>(n >> 24U), static_cast<char>(n >> 16U),
                                   static_cast<char>(n >> 8U), static_cast<char>(n)};
            };
            const std::string named = name + body;
            const auto sum =
                crc32(0, reinterpret_cast<const Bytef*>(named.data()), static_cast<uInt>(named.size()));
            return big(static_cast<std::uint32_t>(body.size())) + named
                   + big(static_cast<std::uint32_t>(sum));
        };
        std::string head;
        for (const std::uint32_t n : {w, h})
            for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(n >> shift & 255U);
        return plain.substr(0, 8) + chunk("IHDR", head + plain.substr(24, 5)) + chunk("IDAT", data)
               + chunk("IEND", "");
    };
    Image seen = first;
    std::uint32_t sequence = 0, all = 0;
    std::size_t shown = 0;
    std::array<std::uint32_t, 4> place{};  // width, height, x, y
    for (std::size_t at = 8; at < png.size();) {
        const std::size_t length = number(png, at);
        const std::string name = png.substr(at + 4, 4), data = png.substr(at + 8, length);
        at += length + 12;
        if (name == "acTL") all = number(data, 0);
        if (name == "fcTL") {
            CHECK(number(data, 0) == sequence++);
            for (std::size_t i = 0; i < 4; ++i) place[i] = number(data, 4 + 4 * i);
            const double seconds = static_cast<double>(number(data, 20, 2)) / number(data, 22, 2);
            CHECK(seconds == near(frames[shown].seconds));
            CHECK(seen.pixels == frames[shown == 0 ? 0 : shown - 1].image.pixels);
            ++shown;
        }
        if (name != "fdAT") continue;
        CHECK(number(data, 0) == sequence++);
        const Image part = decode_png(as_png(place[0], place[1], data.substr(4)));
        for (std::uint32_t y = 0; y < place[1]; ++y)
            std::copy_n(part.pixels.begin() + static_cast<std::ptrdiff_t>(y) * part.width * 4, part.width * 4,
                        seen.pixels.begin()
                            + (static_cast<std::ptrdiff_t>(place[3] + y) * seen.width + place[2]) * 4);
    }
    CHECK(all == frames.size());
    CHECK(shown == frames.size());
    CHECK(seen.pixels == third.pixels);
    CHECK(place == std::array<std::uint32_t, 4>{1, 1, 39, 29});  // only what changed
}
