// Unpacks gzip in a stream, up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::runs {

[[nodiscard]] bool is_gzip(std::string_view bytes);
// Throws Error (invalid) for a damaged or cut-off file, and for one that holds more than `most` bytes, or far
// more than any text is packed.
void unpack_gzip(std::string_view bytes, std::size_t most, std::string& out);

class Unpacker;

// Gives a file's bytes a block at a time, unpacked where they are gzip: the file is never held whole. A read
// throws Error (invalid) for a damaged or cut-off file, and where a reader takes more than 64 MiB between two
// marks, as for a text without an end.
class UnpackedBytes : public std::streambuf {
  public:
    explicit UnpackedBytes(std::istream& from);
    ~UnpackedBytes() override;
    // Notes that what was read so far is done with.
    void mark() { since_mark_ = 0; }
    // Gives the bytes again that the next read returns, without taking them.
    [[nodiscard]] std::string_view peek();

  protected:
    int_type underflow() override;

  private:
    [[nodiscard]] std::string_view next_packed();
    std::istream& from_;
    std::vector<char> packed_, block_;
    std::unique_ptr<Unpacker> unpacker_;
    std::uint64_t since_mark_ = 0;
    bool begun_ = false;
};

}  // namespace pentamesh::runs
