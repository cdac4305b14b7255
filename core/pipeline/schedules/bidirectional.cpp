#include "core/pipeline/schedules/bidirectional.h"

namespace pentamesh {

int TwoWaysWriter::take(std::array<int, 2>& counter, int chunk) const {
    const auto c = static_cast<std::size_t>(chunk);
    return shape_.first_microbatch[c] + counter[c]++;
}

void TwoWaysWriter::forward(int chunk) {
    *at_++ = op_of(OpKind::F, {chunk, take(forwards_, chunk)});
}

void TwoWaysWriter::backward(int chunk, OpKind kind) {
    *at_++ = op_of(kind, {chunk, take(backwards_, chunk)});
}

void TwoWaysWriter::overlapped(int forward_chunk, int backward_chunk) {
    Op op = op_of(OpKind::FB, {forward_chunk, take(forwards_, forward_chunk)});
    op.backward_chunk = static_cast<std::uint8_t>(backward_chunk);
    op.backward_microbatch = take(backwards_, backward_chunk);
    *at_++ = op;
}

// Writes the oldest weight gradient that is owed, of any chunk.
void TwoWaysWriter::weights() {
    while (owed_->kind != OpKind::I) ++owed_;
    *at_++ = op_of(OpKind::W, {owed_->chunk, owed_->microbatch});
    ++owed_;
}

void TwoWaysWriter::middle() {
    const int near = shape_.near, far = 1 - near;
    const int pairs = shape_.each - 2 * shape_.half + shape_.from_end + 1;
    for (int k = 0; k < pairs; ++k) {
        if (k == 0 && shape_.from_end == shape_.half - 1) {  // innermost: its first pair has nothing to hide
            forward(near);
            backward(far, OpKind::B);
        } else {
            overlapped(near, far);
        }
        overlapped(far, near);
    }
}

void TwoWaysWriter::ramp_down() {
    const int near = shape_.near, far = 1 - near, r = shape_.from_end;
    for (int k = 0; k < 2 * (r + 1); ++k)
        backward(k % 2 == 0 ? far : near, k < r + 1 ? OpKind::B : OpKind::I);
}

Op* TwoWaysWriter::write() {
    const int near = shape_.near, far = 1 - near, r = shape_.from_end;
    const int to_middle = shape_.half - 1 - r;
    for (int k = 0; k < 2 * to_middle; ++k) forward(near);
    for (int k = 0; k < r + 1; ++k) {
        forward(near);
        forward(far);
    }
    for (int k = 0; k < to_middle; ++k) {
        backward(far, OpKind::I);
        weights();
        forward(far);
    }
    middle();
    for (int k = 0; k < to_middle; ++k) {
        backward(far, OpKind::B);
        overlapped(far, near);
    }
    ramp_down();
    for (int k = 0; k < to_middle; ++k) {
        weights();
        backward(near, OpKind::I);
    }
    for (int k = 0; k < r + 1; ++k) weights();
    return at_;
}

}  // namespace pentamesh
