# What is installed, in components, and what packages are made of them. Components: viewer (programs, pages
# of the manual), recorder (its library and adapters, which `record` and other programs load), library
# (libview_profile.so), development (headers, CMake and pkg-config files, static libraries), python.

# vp_describe_place(): where the files that name the prefix find it, so that an installed tree may be moved.
macro(vp_describe_place)
  if(SKBUILD) # in a wheel everything lies below the prefix of its Python
    set(VP_LIBDIR lib)
    set(VP_INCLUDEDIR include)
  else()
    set(VP_LIBDIR ${CMAKE_INSTALL_LIBDIR})
    set(VP_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
  if(IS_ABSOLUTE "${VP_LIBDIR}")
    set(VP_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
    set(VP_PC_LIBDIR "${VP_LIBDIR}")
    set(VP_CMAKE_PREFIX "${CMAKE_INSTALL_PREFIX}")
    set(VP_CMAKE_LIBDIR "${VP_LIBDIR}")
  else()
    file(RELATIVE_PATH up "/${VP_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(VP_PC_PREFIX "\${pcfiledir}/${up}")
    set(VP_PC_LIBDIR "\${prefix}/${VP_LIBDIR}")
    set(VP_CMAKE_PREFIX "\${where}/../${up}") # lib/cmake/NAME is one deeper than lib/pkgconfig
    set(VP_CMAKE_LIBDIR "\${prefix}/${VP_LIBDIR}")
  endif()
endmacro()

# vp_install_package(NAME): its .pc and its CMake files.
function(vp_install_package name)
  vp_describe_place()
  configure_file(scripts/${name}.pc.in ${name}.pc @ONLY)
  configure_file(scripts/${name}-config.cmake.in ${name}-config.cmake @ONLY)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/${name}-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
  install(FILES ${PROJECT_BINARY_DIR}/${name}-config.cmake ${PROJECT_BINARY_DIR}/${name}-config-version.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/${name} COMPONENT development)
endfunction()

function(vp_install_recorder)
  install(TARGETS view_profile_capture ${VP_ADAPTERS} LIBRARY COMPONENT recorder)
  install(FILES python/hook/sitecustomize.py DESTINATION ${CMAKE_INSTALL_LIBDIR}/view_profile-python COMPONENT recorder)
  install(FILES include/view_profile_status.h include/view_profile_capture.h include/view_profile_capture_macros.h
          include/view_profile_capture_layout.h include/view_profile_nvtx_compat.h
          include/view_profile_stub.h include/view_profile_stub_calls.h include/view_profile.hpp
          TYPE INCLUDE COMPONENT development)
  vp_install_package(view_profile_capture)
  if(VP_STATIC)
    vp_static(view_profile_capture_static vp_recorder view_profile_capture ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS} m)
    add_library(view_profile::capture_static ALIAS view_profile_capture_static)
  endif()
endfunction()

function(vp_install_viewer)
  vp_finds_libraries(view_profile ../)
  vp_finds_libraries(view_profile-live ../../)
  vp_finds_libraries(view_profile_lib ../)
  vp_install_libraries()
  install(TARGETS view_profile RUNTIME COMPONENT viewer)
  install(TARGETS view_profile-live DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/view_profile COMPONENT viewer)
  if(TARGET view_profile-fetch)
    install(TARGETS view_profile-fetch DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/view_profile COMPONENT viewer)
  endif()
  install(TARGETS view_profile_lib LIBRARY COMPONENT library NAMELINK_COMPONENT development)
  install(FILES include/view_profile.h include/view_profile_report.h TYPE INCLUDE COMPONENT development)
  if(ISAL_FOUND)
    set(VP_ISAL "isal")
    set(VP_ISAL_FLAG " -lisal")
  endif()
  vp_install_package(view_profile)
  if(VP_STATIC)
    vp_static(view_profile_static vp_core view_profile PkgConfig::JANSSON ${VP_ISAL} ZLIB::ZLIB Threads::Threads
              ${CMAKE_DL_LIBS} m)
    add_library(view_profile::view_profile_static ALIAS view_profile_static)
  endif()
endfunction()

function(vp_packages)
  include(CMakePackageConfigHelpers)
  if(SKBUILD) # a wheel holds no links: each would be a copy
    foreach(library view_profile_lib view_profile_capture)
      set_property(TARGET ${library} PROPERTY VERSION)
      set_property(TARGET ${library} PROPERTY SOVERSION)
    endforeach()
  endif()
  vp_install_recorder()
  if(NOT VP_CAPTURE_ONLY)
    vp_install_viewer()
  endif()
  if(PROJECT_IS_TOP_LEVEL AND NOT SKBUILD AND NOT VP_CAPTURE_ONLY)
    include(scripts/debian.cmake)
  endif()
endfunction()
