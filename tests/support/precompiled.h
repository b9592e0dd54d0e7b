// What most tests include, precompiled in Release builds (see cmake/precompiled.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../cmake/precompiled.h"
