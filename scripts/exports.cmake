# vp_exports(TARGET WHO NAMES…): TARGET exports what scripts/exports says of WHO and "both", each name with a
# version; everything else is its own. NAMES are for our programs alone, by a version that says so. Both libraries
# call the version the same: an adapter that was linked with the recorder finds it in the viewer's library where a
# process has that one first.
function(vp_exports target who)
  set(list ${PROJECT_SOURCE_DIR}/scripts/exports)
  set(map ${PROJECT_BINARY_DIR}/${target}.map)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^(${who}|both) ")
  list(TRANSFORM lines REPLACE "^[a-z]+ " "")
  string(REPLACE ";" ";\n    " names "${lines}")
  set(own "")
  if(ARGN)
    string(REPLACE ";" ";\n    " own "${ARGN}")
    set(own "VIEW_PROFILE_PRIVATE {\n  global:\n    ${own};\n};\n")
  endif()
  file(CONFIGURE OUTPUT ${map} CONTENT "VIEW_PROFILE_${PROJECT_VERSION_MAJOR} {\n  global:\n    @names@;\n  local: *;\n};\n@own@" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# vp_static(TARGET OBJECTS OUT_NAME LIBRARIES…): lib<OUT_NAME>.a of the objects of the target OBJECTS, which is
# linked with LIBRARIES. They become one object, in which only what is exported can be seen: what the rooms call each other, such as
# arena_new, is no name of the program that it is linked into.
function(vp_static target objects out_name)
  set(one ${PROJECT_BINARY_DIR}/${out_name}.o)
  set(archive ${PROJECT_BINARY_DIR}/lib${out_name}.a)
  set(whole -r -nostdlib)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND whole -flinker-output=nolto-rel -flto=auto -flto-partition=one -Oz -fPIC)
  endif()
  add_custom_command(OUTPUT ${archive} DEPENDS $<TARGET_OBJECTS:${objects}> COMMAND_EXPAND_LISTS VERBATIM
    COMMAND ${CMAKE_C_COMPILER} ${whole} -o ${one} $<TARGET_OBJECTS:${objects}>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${one}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_AR} qcD ${archive} ${one})
  add_custom_target(${target}_archive ALL DEPENDS ${archive})
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive} INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/include
                        INTERFACE_LINK_LIBRARIES "${ARGN}")
  add_dependencies(${target} ${target}_archive)
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endfunction()
