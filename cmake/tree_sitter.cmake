# tree-sitter and its grammars, compiled from the C sources in .deps (tools/fetch_deps tree-sitter; ./mtmc and ./test fetch
# them), for the room `source`. Without them all else works, and whoever asks for regions of code is told what to install.
set(folder ${CMAKE_SOURCE_DIR}/.deps/tree-sitter)
include(CheckLanguage)
check_language(C)
if(EXISTS ${folder}/grammars.txt AND CMAKE_C_COMPILER)
  enable_language(C)
  add_library(mtmc_syntax STATIC ${folder}/core/src/lib.c ${folder}/python/parser.c ${folder}/python/scanner.c
    ${folder}/cuda/parser.c ${folder}/cuda/scanner.c)
  target_include_directories(mtmc_syntax SYSTEM PRIVATE ${folder} ${folder}/core/src PUBLIC ${folder}/core/include)
  target_compile_options(mtmc_syntax PRIVATE -O1 -w)
  set_target_properties(mtmc_syntax PROPERTIES C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/source/syntax.cpp PROPERTIES COMPILE_DEFINITIONS MTMC_TREE_SITTER)
else()
  message(STATUS "code without a Program is one region: wanted tree-sitter's sources and a C compiler  (tools/fetch_deps tree-sitter)")
endif()
