# The viewer's programs and libview_profile.so. What serves or makes profiles, and what asks of two or more, is a program of
# its own, view_profile-live, which view_profile becomes (server/cli/live_start.c).
option(VP_ONE_LIBRARY "libview_profile.so holds the programs, too, which are but starts of it: a third of the bytes" OFF)

set(VP_LIVE ${VP_CLI})
list(FILTER VP_LIVE INCLUDE REGEX "/server/(mcp/|watch/|cli/(live/|recording/|serve/(cmd_)?serve|live_main\\.c$))")
list(REMOVE_ITEM VP_CLI ${VP_LIVE})
set(VP_ONLY_FIRST ${PROJECT_SOURCE_DIR}/server/cli/main.c ${PROJECT_SOURCE_DIR}/server/cli/live_start.c)
list(REMOVE_ITEM VP_CLI ${VP_ONLY_FIRST})

add_library(view_profile_lib SHARED)
add_library(view_profile::view_profile ALIAS view_profile_lib)
set_target_properties(view_profile_lib PROPERTIES OUTPUT_NAME view_profile EXPORT_NAME view_profile
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(view_profile_lib PRIVATE vp_core)
target_include_directories(view_profile_lib INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_options(view_profile_lib PRIVATE -Wl,-z,nodelete) # it holds the recorder, which see

if(VP_ONE_LIBRARY)
  # The names that both programs have for themselves; what the starts call has a version of its own.
  file(STRINGS server/cli/live_start.c VP_TWICE REGEX "^LIVE[(]")
  list(TRANSFORM VP_TWICE REPLACE "^LIVE[(]([a-z]+).*" "cli_run_\\1=cli_start_\\1")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS server/cli/live_start.c)
  set_source_files_properties(${VP_ONLY_FIRST} PROPERTIES COMPILE_DEFINITIONS "main=vp_viewer_main;${VP_TWICE}")
  set_source_files_properties(server/cli/live_main.c PROPERTIES COMPILE_DEFINITIONS main=vp_live_main)
  set_source_files_properties(server/cli/main.c server/cli/live_main.c server/net/answer/refusals.c PROPERTIES
                              COMPILE_OPTIONS -fvisibility=default)
  target_sources(view_profile_lib PRIVATE ${VP_ONLY_FIRST} ${VP_LIVE} ${VP_CLI} ${VP_CLI_PACKED})
  vp_exports(view_profile_lib viewer vp_viewer_main vp_live_main http_refusal_page http_refusal_queue)
  set(VP_HOLDER view_profile_lib)
  set_target_properties(view_profile_lib PROPERTIES VP_SMALL ON)
  add_executable(view_profile server/cli/start.c)
  add_executable(view_profile-live server/cli/start.c)
  target_compile_definitions(view_profile PRIVATE VP_MAIN=vp_viewer_main)
  target_compile_definitions(view_profile-live PRIVATE VP_MAIN=vp_live_main)
  target_include_directories(view_profile-live SYSTEM PRIVATE ${MHD_INCLUDE_DIRS})
  target_link_libraries(view_profile PRIVATE vp_flags view_profile_lib)
  target_link_libraries(view_profile-live PRIVATE vp_flags view_profile_lib)
else()
  vp_exports(view_profile_lib viewer)
  set(VP_HOLDER view_profile-live)
  add_executable(view_profile ${VP_ONLY_FIRST} ${VP_CLI} ${VP_CLI_PACKED})
  add_executable(view_profile-live ${VP_LIVE} ${VP_CLI} ${VP_CLI_PACKED})
  target_link_libraries(view_profile PRIVATE vp_core)
  target_link_libraries(view_profile-live PRIVATE vp_core)
endif()
target_sources(view_profile-live PRIVATE ${VP_REFUSALS})
target_link_options(view_profile-live PRIVATE ${VP_REFUSALS_EXPORT})
foreach(program view_profile view_profile-live)
  set_target_properties(${program} PROPERTIES POSITION_INDEPENDENT_CODE ON VP_SMALL ON)
  target_sources(${program} PRIVATE ${VP_SANITIZED})
  target_link_options(${program} PRIVATE ${VP_PLACE})
endforeach()
# `record` looks for the recorder beside the program, then where it is installed.
vp_describe_place()
target_compile_definitions(${VP_HOLDER} PRIVATE VP_LIBDIR="${VP_LIBDIR}")
add_dependencies(view_profile view_profile-live)

# Speaks with object stores and profiled processes, in a process of its own.
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
  set_target_properties(view_profile-fetch PROPERTIES VP_SMALL ON)
  target_link_options(view_profile-fetch PRIVATE ${VP_PLACE})
  add_dependencies(view_profile view_profile-fetch)
endif()
