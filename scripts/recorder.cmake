# The recorder, which goes into other people's programs: nothing of the viewer is in it, and it needs zlib
# alone. It is never unloaded: threads that recorded run its code when they end.
file(GLOB_RECURSE VP_RECORDER CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} trace/base/*.c trace/vpcap/*.c
     trace/capture/*.c)
list(FILTER VP_RECORDER EXCLUDE REGEX "_entry\\.c$")
add_library(vp_recorder OBJECT ${VP_RECORDER})
target_link_libraries(vp_recorder PRIVATE vp_flags Threads::Threads ZLIB::ZLIB)
if(VP_IGZIP AND ISAL_FOUND) # its header only: what is not installed where programs run is done by zlib
  target_compile_definitions(vp_recorder PRIVATE VP_HAVE_ISAL)
  target_include_directories(vp_recorder PRIVATE ${ISAL_INCLUDE_DIRS})
endif()
add_library(view_profile_capture SHARED $<TARGET_OBJECTS:vp_recorder>)
add_library(view_profile::capture ALIAS view_profile_capture)
set_target_properties(view_profile_capture PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      EXPORT_NAME capture LINKER_LANGUAGE C)
target_include_directories(view_profile_capture INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(view_profile_capture PRIVATE vp_flags Threads::Threads ZLIB::ZLIB m ${CMAKE_DL_LIBS})
target_link_options(view_profile_capture PRIVATE -Wl,-z,nodelete)
vp_exports(view_profile_capture recorder)
# Libraries for programs that are not linked with the recorder. Each finds it in its own directory.
set(VP_ADAPTERS view_profile_nvtx view_profile_itt view_profile_instrument)
foreach(adapter ${VP_ADAPTERS})
  string(REPLACE view_profile_ "" name ${adapter})
  add_library(${adapter} SHARED trace/capture/inject/${name}_entry.c)
  target_link_libraries(${adapter} PRIVATE vp_flags view_profile_capture)
  set_target_properties(${adapter} PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON)
endforeach()

# What `record` puts before Python programs: it needs no package, so that it is always installed.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/view_profile-python)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/hook/sitecustomize.py
     ${PROJECT_BINARY_DIR}/view_profile-python/sitecustomize.py SYMBOLIC)
