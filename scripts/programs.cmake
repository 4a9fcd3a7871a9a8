# The programs and libview_profile.so.
add_library(view_profile_lib SHARED)
add_library(view_profile::view_profile ALIAS view_profile_lib)
set_target_properties(view_profile_lib PROPERTIES OUTPUT_NAME view_profile EXPORT_NAME view_profile
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(view_profile_lib PRIVATE vp_core)
target_include_directories(view_profile_lib INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_options(view_profile_lib PRIVATE -Wl,-z,nodelete) # contains the recorder (recorder.cmake)
vp_exports(view_profile_lib viewer)

add_executable(view_profile ${VP_CLI} ${VP_SANITIZED})
target_link_libraries(view_profile PRIVATE vp_core)
set_target_properties(view_profile PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_options(view_profile PRIVATE ${VP_PLACE})
# `record` looks for the recorder beside the program, then where it is installed.
vp_describe_place()
target_compile_definitions(view_profile PRIVATE VP_LIBDIR="${VP_LIBDIR}")

# A separate program holds credentials and talks to object stores and profiled processes.
if(CURL_FOUND AND CRYPTO_FOUND)
  file(GLOB_RECURSE VP_FETCH CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} server/fetch/*.c
       trace/base/*.c)
  add_executable(view_profile-fetch ${VP_FETCH} trace/source/fetch_frames.c ${VP_SANITIZED})
  target_link_libraries(view_profile-fetch PRIVATE vp_flags Threads::Threads ZLIB::ZLIB
                        PkgConfig::CURL PkgConfig::CRYPTO PkgConfig::JANSSON m
                        ${CMAKE_DL_LIBS})
  if(VP_WHEEL_LIBRARIES)
    target_compile_definitions(view_profile-fetch PRIVATE VP_OWN_CURL)
  endif()
  target_link_options(view_profile-fetch PRIVATE ${VP_PLACE})
  add_dependencies(view_profile view_profile-fetch)
endif()
