# Every line of src/ROOMS becomes a static library `room_NAME` of all .cpp files in src/NAME; src/cli/main.cpp is the program.

# Writes a table of all definitions in FOLDER into generated/HEADER: one `extern const TYPE NAME;` per file, NAME = file stem,
# and `TABLE`, an array of pointers to them. Adding an operator or an action is adding a file.
function(generate_table folder type namespace table header)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
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
    list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/cli/main.cpp)
    add_library(room_${room} STATIC ${sources})
    target_link_libraries(room_${room} PUBLIC mtmc_flags)
    foreach(import ${imports})
      if(TARGET room_${import})
        target_link_libraries(room_${room} PUBLIC room_${import})
      endif()
    endforeach()
    if(room STREQUAL "store")
      target_link_libraries(room_store PUBLIC SQLite::SQLite3)
    endif()
  endforeach()
  target_link_libraries(room_cli PUBLIC CLI11::CLI11)
  add_executable(mtmc ${CMAKE_SOURCE_DIR}/src/cli/main.cpp)
  target_link_libraries(mtmc PRIVATE room_cli)
endfunction()
