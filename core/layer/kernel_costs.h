// Holds the costs of kernels other than matrix products: launches and bytes of memory, forward. The list of a
// layer's steps and the time of a layer share them.
#pragma once

namespace pentamesh {

// These are launches of a layer in addition to its products; the backward has twice as many. They were
// counted on Megatron Core with its usual fusions; the unfused attention of 2022 has softmax, dropout and
// their masks apart.
inline constexpr double kRope = 1, kLatentKernels = 4, kUnfusedAttention = 4;
inline constexpr double kMixerKernels = 5;  // convolution, three of the chunked scan, gated norm
inline constexpr double kRouterKernels = 10, kPermuteKernels = 6;
inline constexpr double kBackwardKernels = 2;

// These are HBM bytes per number of an element-wise kernel in 16 bits, by its reads and writes.
inline constexpr double kTwo = 2;               // bytes of a 16-bit number
inline constexpr double kNormBytes = 2 * kTwo;  // read, write
inline constexpr double kAddBytes = 3 * kTwo;   // two read, one written
inline constexpr double kBackwardFactor = 2;    // gradients and saved inputs are both read
inline constexpr double kSoftmaxBytes = 2 * kTwo, kDropoutBytes = 2 * kTwo + 1;  // a byte of mask
inline constexpr double kFlashBackward = 2.5;  // five products for two, Dao et al. 2022

}  // namespace pentamesh
