// What most files of src/ include, precompiled in Release builds. A header belongs here when it is slow to read and in use
// nearly everywhere: a larger file is slower to load.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
