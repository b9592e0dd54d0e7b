# Macro thinking makes and drops millions of small expressions: with mimalloc in place of libc's malloc `bench_scaling` takes two
# thirds of the time (docs/DEPENDENCIES.md). Optional. Sanitizers have a malloc of their own.
find_package(mimalloc QUIET)
function(allocates_fast target)
  if(mimalloc_FOUND AND NOT MTMC_SANITIZE)
    target_link_libraries(${target} PRIVATE mimalloc)
  endif()
endfunction()
