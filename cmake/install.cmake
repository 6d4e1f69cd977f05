# What `cmake --install` installs: header, libraries, command, trellis.pc, the CMake package, man pages,
# completion.

include(CMakePackageConfigHelpers)

install(FILES include/trellis.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS trellis_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS trellis_shared EXPORT trellisTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TRELLIS_COMMAND)
  install(TARGETS trellis_command trellis_serve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET trellis_mpi)
    install(TARGETS trellis_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

# trellis.pc is written while installing, because only then is the prefix (cmake --install --prefix) known.
list(JOIN TRELLIS_PKGCONFIG_MODULES " " pkgconfig_requires)
install(CODE "
  set(PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
  set(LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
  set(INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
  set(VERSION \"${PROJECT_VERSION}\")
  set(REQUIRES \"${pkgconfig_requires}\")
  configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/cmake/trellis.pc.in\" \"${CMAKE_CURRENT_BINARY_DIR}/trellis.pc\" @ONLY)
  file(INSTALL \"${CMAKE_CURRENT_BINARY_DIR}/trellis.pc\"
       DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig\")
")

# find_package(trellis) gives trellis::trellis, the shared library; it needs nothing else to link.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/trellis)
install(EXPORT trellisTargets NAMESPACE trellis:: DESTINATION ${package_dir} FILE trellisConfig.cmake)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/trellisConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/trellisConfigVersion.cmake DESTINATION ${package_dir})

file(GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
foreach(completion ${CMAKE_CURRENT_SOURCE_DIR}/completions ${CMAKE_CURRENT_BINARY_DIR})
  install(FILES ${completion}/trellis.bash OPTIONAL RENAME trellis
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion}/trellis.zsh OPTIONAL RENAME _trellis
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completion}/trellis.fish OPTIONAL
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endforeach()
