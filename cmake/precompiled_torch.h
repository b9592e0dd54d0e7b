// What most files of the rooms `lm` and `train` include besides, precompiled like precompiled.h.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "precompiled.h"
