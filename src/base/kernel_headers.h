// The headers of generated C++ kernels, compiled ahead of time: to parse them anew takes a third of a second a kernel.
#pragma once
#include <filesystem>
#include <string>

namespace mtmc {

// What generated kernels are compiled with, as a Python list; compiled headers are good for these flags only.
inline constexpr const char* kKernelFlags =
    R"(["-O3", "-march=native", "-std=c++17", "-fopenmp", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi", "-w"])";

// A folder in which g++ finds <algorithm>, and with it all that kernels include, compiled. Made once per compiler and
// machine in the user's own cache, by us alone: guests can read it and not write to it. Empty where it cannot be made:
// then kernels only take longer to compile.
std::filesystem::path kernel_headers();

// The value of CPATH with that folder in front; the variable as it is where there is none.
std::string kernel_include_path();

}  // namespace mtmc
