# What language models need beside the rest: PCRE2 and utf8proc for the room `checkpoint`, and for `lm` and `train` the libtorch of an
# installed PyTorch (MTMC_TORCH, the folder of the package `torch`; by default that of MTMC_PYTHON's). What is missing is left
# out with a line that says so; `mtmc` needs none of it. PyTorch's own TorchConfig.cmake wants a CUDA toolkit where torch was
# built for CUDA; compiling C++ needs no more than the headers and three libraries.
set(MTMC_LEFT_OUT "")  # rooms

find_path(PCRE2_INCLUDE pcre2.h)
find_library(PCRE2_LIBRARY pcre2-8)
find_path(UTF8PROC_INCLUDE utf8proc.h)
find_library(UTF8PROC_LIBRARY utf8proc)
if(PCRE2_INCLUDE AND PCRE2_LIBRARY AND UTF8PROC_INCLUDE AND UTF8PROC_LIBRARY)
  add_library(mtmc_text INTERFACE)
  target_include_directories(mtmc_text SYSTEM INTERFACE ${PCRE2_INCLUDE} ${UTF8PROC_INCLUDE})
  target_link_libraries(mtmc_text INTERFACE ${PCRE2_LIBRARY} ${UTF8PROC_LIBRARY})
else()
  list(APPEND MTMC_LEFT_OUT checkpoint lm train)
  message(STATUS "mtmc-lm is left out: wanted PCRE2 and utf8proc  (sudo apt-get install libpcre2-dev libutf8proc-dev)")
endif()

set(MTMC_TORCH "" CACHE PATH "The folder of the Python package torch, for mtmc-lm")
set(torch_folder "${MTMC_TORCH}")
if(NOT torch_folder AND DEFINED ENV{MTMC_PYTHON} AND NOT MTMC_SANITIZE)
  execute_process(COMMAND $ENV{MTMC_PYTHON} -c
    "import importlib.util; print(importlib.util.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE torch_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(torch_folder AND EXISTS "${torch_folder}/lib/libtorch_cpu.so" AND EXISTS "${torch_folder}/include/ATen/core/Tensor.h")
  add_library(mtmc_torch INTERFACE)
  # Last, as torch brings headers of libraries (fmt) in versions that are not those we link to.
  target_compile_options(mtmc_torch INTERFACE "SHELL:-idirafter ${torch_folder}/include")
  target_link_directories(mtmc_torch INTERFACE ${torch_folder}/lib)
  # libtorch_cuda.so is loaded when a device asks for it (lm/device.cpp): a start without it takes a tenth of the time.
  target_link_libraries(mtmc_torch INTERFACE torch_cpu c10)
  target_link_options(mtmc_torch INTERFACE -Wl,-rpath,${torch_folder}/lib -Wl,--allow-shlib-undefined)
  # What captures passes on a GPU is a library that lm/capture.cpp loads, and needs CUDA's headers: a toolkit's, or those that
  # come with Triton. It links to nothing: libtorch_cuda.so is there when it is loaded.
  if(EXISTS "${torch_folder}/lib/libtorch_cuda.so")
    find_path(CUDA_HEADERS crt/host_config.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include
      ${torch_folder}/../nvidia/cu13/include ${torch_folder}/../triton/backends/nvidia/include)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS "-std=c++20 -isystem ${CUDA_HEADERS} -idirafter ${torch_folder}/include")
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_cxx_source_compiles("#include <ATen/cuda/CUDAGraph.h>" MTMC_CUDA_GRAPHS)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
  endif()
  if(MTMC_CUDA_GRAPHS)
    add_library(mtmc_lm_cuda MODULE ${CMAKE_SOURCE_DIR}/src/lm/cuda_graph.cpp)
    target_include_directories(mtmc_lm_cuda PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_options(mtmc_lm_cuda PRIVATE -Wall -Wextra -isystem ${CUDA_HEADERS} "SHELL:-idirafter ${torch_folder}/include")
    target_link_options(mtmc_torch INTERFACE -Wl,-rpath,${CMAKE_BINARY_DIR})
  elseif(EXISTS "${torch_folder}/lib/libtorch_cuda.so")
    message(STATUS "mtmc-lm will not capture passes on a GPU: wanted CUDA's headers, of 12.4 or newer (CUDA_HOME, or the wheel of Triton)")
  endif()
else()
  list(APPEND MTMC_LEFT_OUT lm train)
  message(STATUS "mtmc-lm is left out: no libtorch in '${torch_folder}': wanted -DMTMC_TORCH=FOLDER, or MTMC_PYTHON with torch >= 2.9")
endif()
