# ccache where it is installed: a clone elsewhere finds what another one has compiled.
find_program(PORTICO_CCACHE ccache)
if(PORTICO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${PORTICO_CCACHE})
endif()

# Warnings, hardening and sanitizers, as one interface target that every target of ours links.
add_library(portico_options INTERFACE)
target_include_directories(portico_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(portico_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Werror -fno-strict-aliasing)
target_compile_definitions(portico_options INTERFACE PORTICO_VERSION="${PROJECT_VERSION}")
find_package(Threads REQUIRED)
target_link_libraries(portico_options INTERFACE Threads::Threads)

if(PORTICO_SANITIZE)
  add_compile_options(-fsanitize=${PORTICO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # The check of vptrs opens a pipe for each new type: a false finding once descriptors have run out,
  # which is something the tests do.
  if(PORTICO_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=vptr)
  endif()
  add_link_options(-fsanitize=${PORTICO_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
  add_compile_options(-fstack-protector-strong -D_FORTIFY_SOURCE=3 -fPIE)
  add_link_options(-pie -Wl,-z,relro,-z,now $<$<CXX_COMPILER_ID:GNU>:-flto=auto>)
endif()
if(PORTICO_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
