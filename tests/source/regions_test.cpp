// Each kind of region on small texts; lines after an edit; text that is no code.
#include "source/regions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace mtmc {
namespace {

constexpr const char* kTriton = R"(import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, 0.5 * value * (1 + tl.erf(value * 0.7071)), mask=at < n)


# C = A B, tiles in groups.
@triton.autotune(configs=[], key=[])
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = pid // 8
    column = pid % 8
    a = a_ptr + row * K
    b = b_ptr + column
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        total += tl.dot(tl.load(a + k), tl.load(b + k * N))
    tl.store(c_ptr + row * N + column, total)


def matmul(x, w):
    y = torch.empty((x.shape[0], w.shape[1]), device=x.device)
    matmul_kernel[(64,)](x, w, y, 64, 64, 64, BLOCK=16)
    return y


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.weight = nn.Parameter(torch.randn(size, size))

    def forward(self, x):
        n = x.numel()
        y = self.norm(x)
        y = matmul(
            y.view(-1, 64), self.weight)
        out = torch.empty_like(y)
        gelu_kernel[(n // 64,)](y, out, n, BLOCK=64)
        if n > 3:
            out = out + x
        return F.softmax(out.transpose(0, 1), dim=-1)
)";

constexpr const char* kCuda = R"(#include <torch/extension.h>

template <int kTile>
__global__ void scale(const float* __restrict__ x, float* out, int rows, int columns) {
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int first = blockIdx.y * 4;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < columns; j += kTile) {
      out[(first + i) * columns + j] = 2 * x[(first + i) * columns + j];
    }
  }
}

__global__ void total(const float* x, float* sum, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256) s += x[i];
  sum[threadIdx.x] = s;
}

torch::Tensor run(torch::Tensor x) {
  auto scaled = torch::empty_like(x);
  auto sums = torch::empty({256}, x.options());
  scale<32><<<dim3(4, 4), 32>>>(x.data_ptr<float>(), scaled.data_ptr<float>(), 16, 128);
  total<<<1, 256>>>(scaled.data_ptr<float>(), sums.data_ptr<float>(), 2048);
  return torch::relu(sums);
}
)";

std::vector<std::string> texts(const std::string& code, Language language = Language::python) {
  const auto regions = regions_of(code, language);
  EXPECT_TRUE(regions.ok()) << (regions.ok() ? "" : regions.error().message());
  std::vector<std::string> found;
  if (regions.ok())
    for (const SourceRegion& region : *regions) found.push_back(region.text());
  return found;
}

class Regions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_parse()) GTEST_SKIP() << "built without tree-sitter (tools/fetch_deps tree-sitter)";
  }
};

TEST_F(Regions, OfATritonFile) {
  EXPECT_EQ(texts(kTriton), (std::vector<std::string>{
                                "fuse matmul and gelu_kernel in lines 8-46",
                                "fuse gelu_kernel and add in lines 8-50",
                                "fuse layer_norm and matmul in lines 44-46",
                                "fuse add and softmax in lines 50-51",
                                "lower layer_norm in line 44",
                                "lower softmax in line 51",
                                "tile kernel gelu_kernel in lines 8-12",
                                "tile the loop over k in kernel matmul_kernel in lines 25-26",
                                "pipeline the loop over k in kernel matmul_kernel in lines 25-26",
                                "reorder the order of programs in kernel matmul_kernel in lines 19-21",
                                "capture 3 launches in lines 44-51",
                            }));
}

TEST_F(Regions, OfACudaText) {
  const std::vector<std::string> wanted = {
      "fuse scale and total in lines 3-18",
      "fuse total and relu in lines 14-25",
      "lower relu in line 25",
      "tile the loops over i and j in kernel scale in lines 7-11",
      "tile the loop over i in kernel total in line 16",
      "pipeline the loop over j in kernel scale in lines 8-10",
      "pipeline the loop over i in kernel total in line 16",
      "reorder the order of programs in kernel scale in lines 5-6",
      "reorder the loops over i and j in kernel scale in lines 7-11",
      "capture 3 launches in lines 23-25",
  };
  EXPECT_EQ(texts(kCuda, Language::cuda), wanted);
}

TEST_F(Regions, MemoryThatIsNamedAfterAKernelIsNoLaunch) {
  const std::string code = R"(import torch
import triton
import triton.language as tl


@triton.jit
def half(x, out):
    tl.store(out, tl.load(x) * 0.5)


def scratch(name, elements):
    return torch.empty(elements)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = scratch("half", 128)
        half[(1,)](x, y)
        return y
)";
  EXPECT_EQ(texts(code), (std::vector<std::string>{"tile kernel half in lines 6-8"}));
}

TEST_F(Regions, ALoopThatHandsItsMemoryOnLoadsFromIt) {
  const std::string code = R"(void block(const float* x, float* y);

extern "C" void rows(const float* x, float* y) {
  for (long i = 0; i < 64; ++i) block(x + i * 32, y + i * 32);
}
extern "C" void zeros(const float* x, float* y) {
  for (long i = 0; i < 64; ++i) clear(y + i * 32);
}
)";
  EXPECT_EQ(texts(code, Language::cuda),
            (std::vector<std::string>{"tile the loop over i in kernel rows in line 4",
                                      "pipeline the loop over i in kernel rows in line 4"}));
}

// Lines of what stands in a string are lines of the whole file.
TEST_F(Regions, OfCudaInsideOfPython) {
  const std::string before = "from torch.utils.cpp_extension import load_inline\nimport torch\n\nSOURCE = r'''";
  const std::string after =
      "'''\next = load_inline(name='e', cpp_sources='', cuda_sources=SOURCE, functions=['run'])\n\n"
      "class ModelNew(torch.nn.Module):\n"
      "    def forward(self, x):\n"
      "        y = torch.relu(x)\n"
      "        return ext.run(y)\n";
  const std::vector<std::string> found = texts(before + kCuda + after);
  for (const char* wanted :
       {"tile the loops over i and j in kernel scale in lines 10-14", "fuse scale and total in lines 6-21",
        "fuse relu and run in lines 35-36", "lower relu in line 35"})
    EXPECT_EQ(std::count(found.begin(), found.end(), wanted), 1) << wanted << " among\n" << join(found, "\n");
}

// Plain C, called through ctypes.
TEST_F(Regions, OfALibraryOfC) {
  const std::string code = R"(import ctypes, torch
SOURCE = """
#include <math.h>
// Rows between 0 and 1.
void scale(const float* x, float* y, long rows, long columns) {
  for (long r = 0; r < rows; ++r)
    for (long c = 0; c < columns; ++c)
      y[r * columns + c] = x[r * columns + c] * 0.5f;
}
"""
SCALE = ctypes.CDLL(compiled(SOURCE)).scale

class ModelNew(torch.nn.Module):
    def forward(self, x):
        a = torch.exp(x)
        y = torch.empty(a.shape)
        SCALE(ctypes.c_void_p(a.data_ptr()), ctypes.c_void_p(y.data_ptr()), *a.shape)
        n = ctypes.c_long(3)
        return y.sum()
)";
  EXPECT_EQ(texts(code), (std::vector<std::string>{
                             "fuse exp and scale in lines 4-15",
                             "fuse scale and sum in lines 4-19",
                             "lower exp in line 15",
                             "lower sum in line 19",
                             "tile the loops over r and c in kernel scale in lines 6-8",
                             "pipeline the loop over c in kernel scale in lines 7-8",
                             "reorder the loops over r and c in kernel scale in lines 6-8",
                             "capture 3 launches in lines 15-19",
                         }));
}

// CUDA C++ whose kernels are launched by name, as files for the target cuda do; blocks and threads come before the
// arguments.
TEST_F(Regions, OfKernelsThatAreLaunchedByName) {
  const std::string code = R"(import torch
SOURCE = r"""
extern "C" __global__ void scale(const float* x, float* y, long long count) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < count) y[i] = x[i] * 0.5f;
}
"""
CUDA = Cuda(SOURCE)

class ModelNew(torch.nn.Module):
    def forward(self, x):
        a = torch.exp(x)
        y = torch.empty_like(a)
        CUDA("scale", (a.numel() // 256,), (256,), a, y, a.numel())
        return y.sum()
)";
  EXPECT_EQ(texts(code), (std::vector<std::string>{
                             "fuse exp and scale in lines 3-12",
                             "fuse scale and sum in lines 3-15",
                             "lower exp in line 12",
                             "lower sum in line 15",
                             "tile kernel scale in lines 3-6",
                             "capture 3 launches in lines 12-15",
                         }));
}

// What is inserted above moves all regions by as many lines, what stands below changes nothing.
TEST_F(Regions, HaveExactLinesAfterAnEdit) {
  const auto before = regions_of(kTriton).value();
  const std::string code = "# one\n\"\"\"two\nthree\"\"\"\n" + std::string(kTriton) + "\n\ndef unused():\n    pass\n";
  const auto after = regions_of(code).value();
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].label, after[i].label);
    ASSERT_EQ(before[i].lines.size(), after[i].lines.size());
    for (size_t k = 0; k < before[i].lines.size(); ++k) {
      EXPECT_EQ(before[i].lines[k].first + 3, after[i].lines[k].first);
      EXPECT_EQ(before[i].lines[k].last + 3, after[i].lines[k].last);
    }
  }
  // A line within a region makes it longer.
  const std::string longer =
      replace_all(kTriton, "        total += tl.dot(", "        # more\n        total += tl.dot(");
  EXPECT_NE(join(texts(longer), "\n").find("tile the loop over k in kernel matmul_kernel in lines 25-27"),
            std::string::npos);
}

TEST_F(Regions, FollowTheFlowOfValues) {
  const std::string head = "import torch\n\nclass Model:\n    def forward(self, x, y):\n";
  const auto fusions = [&](const std::string& body) {
    std::vector<std::string> found;
    for (const std::string& text : texts(head + body))
      if (text.starts_with("fuse")) found.push_back(text);
    return found;
  };
  using Texts = std::vector<std::string>;
  // A variable that is used anew; a third statement that stands between.
  EXPECT_EQ(fusions("        a = torch.exp(x)\n        a = torch.exp(y)\n        return torch.tanh(a)\n"),
            Texts{"fuse exp and tanh in lines 6-7"});
  EXPECT_EQ(fusions("        a = torch.exp(x)\n        b = torch.tanh(a)\n        return a * b\n"),
            (Texts{"fuse exp and tanh in lines 5-6", "fuse tanh and mul in lines 6-7"}));
  // Views are walked through; what only asks for a size does not depend on the elements.
  EXPECT_EQ(fusions("        a = torch.exp(x)\n        b = a.view(-1)\n        return b.sum()\n"),
            Texts{"fuse exp and sum in lines 5-7"});
  EXPECT_EQ(fusions("        a = torch.exp(x)\n        b = torch.tanh(y) * a.shape[0]\n        return a, b\n"),
            Texts{"fuse tanh and mul in line 6"});
  // Both branches may have made it.
  EXPECT_EQ(
      fusions(
          "        a = torch.exp(x)\n        if y is None:\n            a = torch.tanh(x)\n        return a.sum()\n"),
      (Texts{"fuse exp and sum in lines 5-8", "fuse tanh and sum in lines 7-8"}));
  // In place, and several on a line.
  EXPECT_EQ(
      fusions("        a = torch.exp(x); a += y\n        a.relu_()\n        return a @ y\n"),
      (Texts{"fuse exp and add in line 5", "fuse add and relu in lines 5-6", "fuse relu and matmul in lines 6-7"}));
}

// What a function beside the class does is one step where it is called; one that does nothing with tensors is none.
TEST_F(Regions, OfFunctionsBesideTheModel) {
  const std::string code = R"(import torch
import torch.nn.functional as F

def checked(x):
    assert x.shape[0] > 1
    return x.contiguous()

def gate(a: torch.Tensor, b: torch.Tensor):
    c = torch.sigmoid(a)
    return c * b

class Model(torch.nn.Module):
    def helper(self, x):
        return F.relu(x.view(-1)).sum()

    def forward(self, x, scale=2.0):
        x = checked(x)
        y = torch.exp(x)
        y = checked(y)
        z = gate(y, x)
        return self.helper(z)

def get_inputs():
    return [torch.randn(4)]
)";
  EXPECT_EQ(texts(code), (std::vector<std::string>{
                             "fuse sigmoid and mul in lines 9-10",
                             "fuse relu and sum in line 14",
                             "fuse exp and gate in lines 18-20",
                             "fuse gate and helper in lines 20-21",
                             "lower sigmoid in line 9",
                             "lower relu and sum in line 14",
                             "lower exp in line 18",
                         }));
}

TEST_F(Regions, AreAtMostSoManyOfAType) {
  std::string code = "import torch\n\nclass ModelNew:\n    def forward(self, x):\n";
  for (int i = 0; i < 100; ++i) code += "        x = torch.exp(x)\n";
  const auto regions = regions_of(code).value();
  ASSERT_EQ(regions.size(), 24u + 24u + 1u);
  EXPECT_EQ(regions[0].text(), "fuse exp in lines 5-6");
  EXPECT_EQ(regions[0].word(), "exp_in_lines_5-6");
  EXPECT_EQ(regions[47].text(), "lower exp in line 28");
  EXPECT_EQ(regions[48].text(), "capture 100 launches in lines 5-104");
  EXPECT_EQ(regions_of(code, Language::python, 1000)->size(), 99u + 100u + 1u);
  for (const SourceRegion& region : regions)
    EXPECT_EQ(std::count(kRegionActions.begin(), kRegionActions.end(), region.action), 1) << region.action;
}

// Whatever stands there: an Error or regions, and always within the text.
TEST_F(Regions, OfMalformedCodeNeverFail) {
  const std::string whole = std::string(kTriton) + "S = '''" + kCuda + "'''\n";
  std::vector<std::string> broken = {"",
                                     "\n\n",
                                     "((((((((",
                                     "class ModelNew:\n    def forward(self",
                                     "def f(:\n  x = = 3",
                                     "\"\"\"never closed",
                                     std::string("a\0b\xff\xfe = 1", 9),
                                     "x = '''__global__ void k(",
                                     std::string(100000, '('),
                                     "x = " + std::string(20000, '-') + "1\n"};
  for (size_t at = 0; at < whole.size(); at += 97) broken.push_back(whole.substr(0, at));
  for (size_t at = 0; at < whole.size(); at += 131)
    broken.push_back(whole.substr(0, at) + whole.substr(std::min(at + 40, whole.size())));
  for (const std::string& code : broken)
    for (const Language language : {Language::python, Language::cuda}) {
      const auto regions = regions_of(code, language);
      if (!regions.ok()) continue;
      const int lines = static_cast<int>(std::count(code.begin(), code.end(), '\n')) + 1;
      for (const SourceRegion& region : *regions) {
        EXPECT_LE(1, region.span().first) << region.text();
        EXPECT_LE(region.span().first, region.span().last) << region.text();
        EXPECT_LE(region.span().last, lines) << region.text();
      }
    }
  // What comes before the mistake is found.
  const std::string half = std::string(kTriton) + "\n\ndef broken(:\n    x = (\n";
  EXPECT_EQ(texts(half), texts(kTriton));
  EXPECT_EQ(regions_of("").error().message(), "reading code: nothing of it can be read: wanted Python");
  EXPECT_EQ(regions_of(std::string(2 << 20, 'x')).error().message(),
            "reading code: too long: got 2097152 bytes, wanted 256 KB at most");
}

TEST(RegionsWithoutGrammars, SayWhatToInstall) {
  if (can_parse()) return;  // not what was built here
  EXPECT_EQ(regions_of("x = 1\n").error().message(),
            "reading code: this program was built without tree-sitter: wanted tools/fetch_deps tree-sitter, and a "
            "build after it");
}

}  // namespace
}  // namespace mtmc
