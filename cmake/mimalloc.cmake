# Macro thinking makes and drops millions of small expressions: with mimalloc in place of libc's malloc `bench_scaling` takes two
# thirds of the time (docs/DEPENDENCIES.md). Optional. Sanitizers have a malloc of their own.
find_package(mimalloc QUIET)  # no version: its own check takes no other major one
if(NOT TARGET mimalloc)
  message(STATUS "planning takes half as long again: wanted mimalloc  (sudo apt-get install libmimalloc-dev)")
endif()
function(allocates_fast target)
  if(TARGET mimalloc AND NOT MTMC_SANITIZE)
    target_link_libraries(${target} PRIVATE mimalloc)
  endif()
endfunction()
