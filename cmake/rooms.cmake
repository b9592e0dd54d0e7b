# Every line of src/ROOMS becomes a static library `room_NAME` of all .cpp files in src/NAME; src/cli/main.cpp is the program.

# Writes a table of all definitions in FOLDER into generated/HEADER: one `extern const TYPE NAME;` per file, NAME = file stem,
# and `TABLE`, an array of pointers to them. Adding an operator or an action is adding a file.
function(generate_table folder type namespace table header)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
  set_property(GLOBAL APPEND PROPERTY MTMC_ALONE ${files})  # definitions of one kind name their parts alike
  set(externs "")
  set(names "")
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    string(APPEND externs "extern const ${type} ${stem}_def;\n")
    string(APPEND names "    &${stem}_def,\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${header} CONTENT
"// Generated from the files in src/${folder}; do not edit.
#pragma once
namespace ${namespace} {
${externs}
inline const ${type}* const ${table}[] = {
${names}};
}  // namespace ${namespace}
")
endfunction()

# Writes the files of FOLDER that end in .SUFFIX into generated/HEADER: `TABLE`, pairs of a file's stem and its text.
function(generate_texts folder suffix namespace table header)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.${suffix})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(pairs "")
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND pairs "    {\"${stem}\", R\"text(${text})text\"},\n")
  endforeach()
  set(content
"// Generated from the files in src/${folder}; do not edit.
#pragma once
#include <string_view>
#include <utility>
namespace ${namespace} {
inline constexpr std::pair<std::string_view, std::string_view> ${table}[] = {
${pairs}};
}  // namespace ${namespace}
")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${header} CONTENT "${content}" @ONLY)
endfunction()

# Precompiles HEADER for TARGET and all who reuse it from there: they have the same flags. ccache tells precompiled headers
# apart by what is in their .sum: all that HEADER includes, without its places, so that checkouts share their objects all
# the same and a library's new version is noticed.
function(precompile target header)
  if(MTMC_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${header})
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -DFMT_SHARED -I${CMAKE_SOURCE_DIR}/.deps/include -E -P -x c++ ${header}
      OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
    set(sum_file ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.gch.sum)
    if(failed)  # a library lies where only its targets know: ccache then compares the precompiled header itself
      file(REMOVE ${sum_file})
    else()
      string(SHA256 sum "${text}")
      file(WRITE ${sum_file} ${sum})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/precompiled.h ${header})
  endif()
endfunction()
function(reuse_precompiled target other)
  if(MTMC_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()

# The sources of a room with most of them joined, some four files each: what they include is read once. Those of one folder are
# joined, by their names alone, so that a new file changes one of the joined ones. These have the same place and text in every
# checkout, which CMake's own (UNITY_BUILD) have from CMake 4 only: ccache serves the others, too. ROOT is on the include path.
function(join_sources sources_variable label root)
  if(NOT MTMC_JOIN)
    return()
  endif()
  get_property(alone GLOBAL PROPERTY MTMC_ALONE)
  set(found "")
  set(folders "")
  foreach(source ${${sources_variable}})
    get_source_file_property(own_flags ${source} COMPILE_DEFINITIONS)
    if(source IN_LIST alone OR own_flags)
      list(APPEND found ${source})
    else()
      file(RELATIVE_PATH name ${root} ${source})
      string(REGEX REPLACE "/[^/]*$" "" folder ${name})
      string(REPLACE "/" "_" folder ${folder})
      list(APPEND folders ${folder})
      list(APPEND names_${folder} ${name})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH names_${folder} count)
    set(parts 1)
    while(count GREATER 6)  # twice as many parts where files are twice as many
      math(EXPR count "${count} / 2")
      math(EXPR parts "${parts} * 2")
    endwhile()
    foreach(name ${names_${folder}})
      string(MD5 hash ${name})
      string(SUBSTRING ${hash} 0 6 hash)
      math(EXPR part "0x${hash} % ${parts}")
      string(APPEND text_${folder}_${part} "#include \"${name}\"\n")
    endforeach()
    foreach(part RANGE ${parts})
      if(text_${folder}_${part})
        set(file ${CMAKE_SOURCE_DIR}/build/joined/${label}${folder}_${part}.cpp)
        file(CONFIGURE OUTPUT ${file} CONTENT "${text_${folder}_${part}}")
        list(APPEND found ${file})
      endif()
    endforeach()
  endforeach()
  set(${sources_variable} ${found} PARENT_SCOPE)
endfunction()

function(add_rooms)
  file(STRINGS ${CMAKE_SOURCE_DIR}/src/ROOMS lines REGEX "^[a-z]+:")
  foreach(line ${lines})
    string(REGEX MATCH "^([a-z]+):(.*)$" unused "${line}")
    set(room ${CMAKE_MATCH_1})
    string(STRIP "${CMAKE_MATCH_2}" imports)
    string(REPLACE " " ";" imports "${imports}")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.cpp)
    if(NOT sources)
      continue()
    endif()
    if(room IN_LIST MTMC_LEFT_OUT)
      continue()
    endif()
    list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/cli/main.cpp ${CMAKE_SOURCE_DIR}/src/train/main.cpp
      ${CMAKE_SOURCE_DIR}/src/lm/cuda_graph.cpp)
    join_sources(sources "" ${CMAKE_SOURCE_DIR}/src)
    add_library(room_${room} STATIC ${sources})
    target_link_libraries(room_${room} PUBLIC mtmc_flags)
    if(room STREQUAL "lm" OR room STREQUAL "train")
      target_link_libraries(room_${room} PUBLIC mtmc_torch)
      if(TARGET mtmc_lm_cuda)
        add_dependencies(room_${room} mtmc_lm_cuda)
      endif()
      if(room STREQUAL "lm")
        precompile(room_lm ${CMAKE_SOURCE_DIR}/cmake/precompiled_torch.h)
      else()
        reuse_precompiled(room_${room} room_lm)
      endif()
    elseif(room STREQUAL "base")
      precompile(room_base ${CMAKE_SOURCE_DIR}/cmake/precompiled.h)
    else()
      reuse_precompiled(room_${room} room_base)
    endif()
    foreach(import ${imports})
      if(TARGET room_${import})
        target_link_libraries(room_${room} PUBLIC room_${import})
      endif()
    endforeach()
    if(room STREQUAL "store")
      target_link_libraries(room_store PUBLIC SQLite::SQLite3)
    elseif(room STREQUAL "source" AND TARGET mtmc_syntax)
      target_link_libraries(room_source PRIVATE mtmc_syntax)
    elseif(room STREQUAL "llm" AND MTMC_CURL)
      target_link_libraries(room_llm PRIVATE CURL::libcurl)
    elseif(room STREQUAL "checkpoint")
      target_link_libraries(room_checkpoint PRIVATE mtmc_text)
    endif()
  endforeach()
  target_link_libraries(room_cli PUBLIC CLI11::CLI11)
  add_executable(mtmc ${CMAKE_SOURCE_DIR}/src/cli/main.cpp)
  target_link_libraries(mtmc PRIVATE room_cli)
  allocates_fast(mtmc)
  reuse_precompiled(mtmc room_base)
  if(TARGET room_train)
    target_link_libraries(room_train PUBLIC CLI11::CLI11)
    add_executable(mtmc-lm ${CMAKE_SOURCE_DIR}/src/train/main.cpp)
    target_link_libraries(mtmc-lm PRIVATE room_train)
    reuse_precompiled(mtmc-lm room_lm)
  endif()
endfunction()
