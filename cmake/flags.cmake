# How our own code is compiled: the target trellis_flags carries every flag, and
# trellis_select_cpu_files() gives the SIMD files theirs.

include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

add_library(trellis_flags INTERFACE)
target_compile_definitions(trellis_flags INTERFACE _GNU_SOURCE)
target_compile_options(trellis_flags INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
  $<$<BOOL:${TRELLIS_WERROR}>:-Werror>)
# Whether gcc warns about "maybe uninitialised" depends on how much it inlined; clang-tidy and the sanitizers check
# this reliably.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  target_compile_options(trellis_flags INTERFACE -Wno-maybe-uninitialized)
endif()

# Floating point: no errno from libm and no traps, so loops vectorise; otherwise IEEE, so that a NaN is a
# NaN and a sum has one order. Without contraction gcc and clang round alike on machines with FMA.
target_compile_options(trellis_flags INTERFACE -fno-math-errno -fno-trapping-math -ffp-contract=off)
# A float is computed as a float, where a machine would else use more, as s390x by its ABI.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^s390" AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  target_compile_options(trellis_flags INTERFACE -fexcess-precision=fast)
endif()

# Hardening. Fortify needs the optimiser, and the sanitizers want the plain functions.
target_compile_options(trellis_flags INTERFACE -fstack-protector-strong
  $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
check_c_compiler_flag(-fstack-clash-protection TRELLIS_HAS_STACK_CLASH)
if(TRELLIS_HAS_STACK_CLASH)
  target_compile_options(trellis_flags INTERFACE -fstack-clash-protection)
endif()
target_link_options(trellis_flags INTERFACE LINKER:-z,relro,-z,now LINKER:--as-needed)

# Instrumented builds. All files get these, whatever their other flags, since a process has one runtime.
if(TRELLIS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  if(NOT TRELLIS_SANITIZE)
    set(TRELLIS_SANITIZE address,undefined)
  endif()
endif()
if(TRELLIS_SANITIZE)
  add_compile_options(-fsanitize=${TRELLIS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TRELLIS_SANITIZE})
endif()
# gcc 12 aligns frames that it keeps to detect use after return to 32 bytes, where a vector of AVX-512 needs 64
# (gcc bug 110027), so the kernels for AVX-512 are compiled without that.
set(TRELLIS_AVX512_FLAGS -mavx512f -mavx512bw -mavx512vl -mfma)
if(TRELLIS_SANITIZE MATCHES address AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  list(APPEND TRELLIS_AVX512_FLAGS --param=asan-use-after-return=0)
endif()
if(TRELLIS_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# src/*/*_avx2.c and src/*/*_avx512.c are compiled for those instructions and chosen at run time;
# on other processors they are not compiled.
function(trellis_select_cpu_files variable)
  set(sources ${${variable}})
  set(avx2_files ${sources})
  set(avx512_files ${sources})
  list(FILTER avx2_files INCLUDE REGEX "_avx2\\.c$")
  list(FILTER avx512_files INCLUDE REGEX "_avx512\\.c$")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    set_source_files_properties(${avx2_files} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
    set_source_files_properties(${avx512_files} PROPERTIES COMPILE_OPTIONS "${TRELLIS_AVX512_FLAGS}")
  else()
    list(FILTER sources EXCLUDE REGEX "_avx(2|512)\\.c$")
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
