// Finds the rates that a GPU reaches with a plan's types and software, and the seconds of one matrix product.
#pragma once

#include "core/plan/plan.h"

namespace pentamesh {

// Holds FLOP/s and bytes/s that this GPU reaches with the plan's types, and bytes of a product's operands.
struct Rates {
    double linear = 0;     // products of linear layers, in the compute type
    double wide = 0;       // products that stay in 16 bits: head, router, attention
    double attention = 0;  // fused attention core
    double hbm = 0;
    double kernel_s = 0;
    double element_wise = 1;  // passes over memory, over those of fused kernels
    double grouped = 1;       // factor on `linear` for the experts' grouped products
    double operand = 2;       // bytes of an operand of a linear layer
    double cast_bytes = 0;    // HBM bytes to bring one number of an activation into that type, both ways up
    double peak = 0;          // dense peak of the compute type: what MFU is measured against
};
[[nodiscard]] Rates find_rates(const Plan& plan);

// Describes a product of m tokens, `in` inputs, `out` outputs, `groups` times side by side. product_time
// returns its seconds: 2 m in out / rate + bytes / HBM + launch. The two terms add, so that a thin product is
// slow without a constant of its own.
struct Product {
    double m = 0, in = 0, out = 0, groups = 1;
};
[[nodiscard]] double product_time(const Rates& r, const Product& p, double rate, double operand,
                                  double result_bytes);

// Returns the share of its rate that a product reaches with a matrix of so many numbers, of so many bytes, in
// and out: less than 1 where the rows of one are no whole cache lines of 128 bytes, since its tiles then
// begin within a line. It is fitted to runs of width 14400 over tp 8 (1800 and 7200 columns) compared with
// widths 13824 and 14336, BigScience on A100 (docs/accuracy.md).
[[nodiscard]] double line_share(double in, double out, double bytes);

}  // namespace pentamesh
