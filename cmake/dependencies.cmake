# The libraries we depend on, as the target trellis_dependencies. packages.txt says what each is for.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

set(TRELLIS_PKGCONFIG_MODULES libutf8proc libpcre2-8 zlib libzstd jansson) # also in trellis.pc
pkg_check_modules(TRELLIS_DEPS REQUIRED IMPORTED_TARGET ${TRELLIS_PKGCONFIG_MODULES})
pkg_check_modules(XXHASH REQUIRED libxxhash) # header only (XXH_INLINE_ALL): not linked
find_library(UNISTRING_LIBRARY unistring REQUIRED) # it has no pkg-config file

add_library(trellis_dependencies INTERFACE)
target_include_directories(trellis_dependencies SYSTEM INTERFACE ${XXHASH_INCLUDE_DIRS})
target_link_libraries(trellis_dependencies INTERFACE
  PkgConfig::TRELLIS_DEPS ${UNISTRING_LIBRARY} Threads::Threads m)
