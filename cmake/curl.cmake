# What asks language models over the network: libcurl, for the room `llm`. Where it is missing, or does not start here (a library
# of its own is missing), everything else works all the same, and whoever asks a model is told.
include(CheckCXXSourceRuns)
find_package(CURL 7.85 QUIET)
if(CURL_FOUND)
  set(CMAKE_REQUIRED_LIBRARIES CURL::libcurl)
  check_cxx_source_runs("#include <curl/curl.h>
int main() { return curl_version_info(CURLVERSION_NOW)->version_num < 0x075500; }" MTMC_CURL)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
# With flags of its own either way: build folders of both kinds share the joined sources.
set_source_files_properties(src/llm/http.cpp PROPERTIES COMPILE_DEFINITIONS MTMC_CURL=$<BOOL:${MTMC_CURL}>)
if(NOT MTMC_CURL)
  message(STATUS "language models cannot be asked: wanted libcurl  (sudo apt-get install libcurl4-openssl-dev)")
endif()
