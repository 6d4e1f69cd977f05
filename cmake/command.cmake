# The command and the service, which are built unless TRELLIS_COMMAND is off, as for the Python package.

# ---- the command: the public header only, so src/ is not on its include path --------------------------

file(GLOB command_sources CONFIGURE_DEPENDS cli/*.c)
list(REMOVE_ITEM command_sources ${CMAKE_CURRENT_SOURCE_DIR}/cli/launch.c ${CMAKE_CURRENT_SOURCE_DIR}/cli/alone.c)
add_library(trellis_cli OBJECT ${command_sources})
set_target_properties(trellis_cli PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(trellis_cli PRIVATE trellis_flags trellis_static)

add_executable(trellis_command cli/launch.c cli/alone.c $<TARGET_OBJECTS:trellis_cli>)
set_target_properties(trellis_command PROPERTIES OUTPUT_NAME trellis POSITION_INDEPENDENT_CODE ON)
target_link_libraries(trellis_command PRIVATE trellis_flags trellis_static)

# ---- the service: the command with an HTTP server; serve/ uses the public header only -----------------

pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
file(GLOB serve_sources CONFIGURE_DEPENDS serve/*.c)
list(REMOVE_ITEM serve_sources ${CMAKE_CURRENT_SOURCE_DIR}/serve/launch.c)
file(GLOB serve_files CONFIGURE_DEPENDS serve/page/* serve/openapi.json)
set(serve_header ${CMAKE_CURRENT_BINARY_DIR}/embedded_serve/page_files.h)
trellis_embed(${serve_header} ${serve_files})
add_library(trellis_service STATIC ${serve_sources} ${serve_header})
set_target_properties(trellis_service PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(trellis_service PUBLIC serve PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded_serve)
target_link_libraries(trellis_service PRIVATE trellis_flags PUBLIC trellis_static PkgConfig::MICROHTTPD)

add_executable(trellis_serve serve/launch.c cli/alone.c $<TARGET_OBJECTS:trellis_cli>)
set_target_properties(trellis_serve PROPERTIES OUTPUT_NAME trellis-serve POSITION_INDEPENDENT_CODE ON)
target_include_directories(trellis_serve PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(trellis_serve PRIVATE trellis_flags trellis_service)

# ---- training on many machines: the command with MPI linked in; mpi/ uses the public header only ------

# OFF, or built where an MPI is found (Open MPI or MPICH).
option(TRELLIS_MPI "Build trellis-mpi where an MPI is installed" ON)
if(TRELLIS_MPI)
  find_package(MPI COMPONENTS C QUIET)
endif()
if(TRELLIS_MPI AND MPI_C_FOUND)
  file(GLOB mpi_sources CONFIGURE_DEPENDS mpi/*.c)
  add_executable(trellis_mpi ${mpi_sources} cli/launch.c $<TARGET_OBJECTS:trellis_cli>)
  set_target_properties(trellis_mpi PROPERTIES OUTPUT_NAME trellis-mpi POSITION_INDEPENDENT_CODE ON)
  target_include_directories(trellis_mpi PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cli)
  target_link_libraries(trellis_mpi PRIVATE trellis_flags trellis_static MPI::MPI_C)
  # GCC takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array that is too small.
  target_compile_options(trellis_mpi PRIVATE $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
endif()
