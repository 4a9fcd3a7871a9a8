# Debian packages, built by `scripts/deb` with CPack. view-profile contains view_profile,
# view_profile-fetch and the recorder that `record` loads; it depends on none of the others.
# libview-profile0 has the C library, libview-profile-dev its headers and static libraries,
# python3-view-profile the Python package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "The maintainers of view_profile <maintainers@users.noreply.a-seed-21692184.example>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "view_profile")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)

# vp_debian(GROUP NAME DESCRIPTION COMPONENTS…)
macro(vp_debian group name description)
  string(TOUPPER ${group} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  foreach(component ${ARGN})
    string(TOUPPER ${component} part)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    set(CPACK_COMPONENT_${part}_GROUP ${group})
  endforeach()
  configure_file(LICENSE ${PROJECT_BINARY_DIR}/deb/${name}/copyright COPYONLY)
  set(parts ${ARGN})
  list(GET parts 0 first)
  install(FILES ${PROJECT_BINARY_DIR}/deb/${name}/copyright DESTINATION share/doc/${name} COMPONENT ${first} EXCLUDE_FROM_ALL)
endmacro()
set(exact "(= ${PROJECT_VERSION})")
vp_debian(viewer view-profile "Finds what is slow in ML programs, why, and the fix
 Reads the profiles of JAX/XLA, TensorFlow, Keras and PyTorch, lists the slowest ops and findings,
 serves pages with a timeline, compares runs, captures running jobs and records programs." viewer recorder)
# Loaded on first use, so dpkg-shlibdeps does not find them. Debian 13 has other names.
set(CPACK_DEBIAN_VIEWER_PACKAGE_DEPENDS "libmicrohttpd12 | libmicrohttpd12t64, libarchive13 | libarchive13t64")
set(CPACK_DEBIAN_VIEWER_PACKAGE_PROVIDES "libview-profile-capture0 ${exact}")
vp_debian(library libview-profile${PROJECT_VERSION_MAJOR} "C library of view_profile
 libview_profile.so: lists the profiles of a directory, makes reports as C structures, and serves
 the pages." library)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libmicrohttpd12 | libmicrohttpd12t64, libarchive13 | libarchive13t64")
vp_debian(development libview-profile-dev "Headers and static libraries of view_profile
 For programs that record themselves or read reports." development)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "view-profile ${exact}, libview-profile${PROJECT_VERSION_MAJOR} ${exact}, zlib1g-dev, libjansson-dev, libisal-dev")
if(TARGET view_profile_python)
  vp_debian(python python3-view-profile "Python package of view_profile
 Annotates programs for the profilers of JAX, PyTorch and view_profile, and reads reports." python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "view-profile ${exact}, python3 (>= 3.10)")
  set(site lib/python3/dist-packages)
  install(TARGETS view_profile_python LIBRARY DESTINATION ${site}/view_profile COMPONENT python EXCLUDE_FROM_ALL)
  install(DIRECTORY python/view_profile DESTINATION ${site} COMPONENT python EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  # importlib.metadata reads the version from it, and pytest the fixture, as in a wheel.
  set(info ${PROJECT_BINARY_DIR}/deb/view_profile-${PROJECT_VERSION}.dist-info)
  file(CONFIGURE OUTPUT ${info}/METADATA CONTENT "Metadata-Version: 2.1\nName: view-profile\nVersion: @PROJECT_VERSION@\n")
  file(CONFIGURE OUTPUT ${info}/entry_points.txt CONTENT "[pytest11]\nview_profile = view_profile.testing\n")
  install(DIRECTORY ${info} DESTINATION ${site} COMPONENT python EXCLUDE_FROM_ALL)
endif()
include(CPack)
