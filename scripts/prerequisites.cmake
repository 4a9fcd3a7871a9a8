# Checks for the compiler and the libraries that a build needs. All that are missing are reported in
# one message with the names of their packages, for cmake as for pip.

# One row for each: what it is | the package of Debian and Ubuntu | of Fedora and RHEL.
set(VP_COMPILER_ROW "a C compiler|build-essential|gcc")
set(VP_PKG_CONFIG_ROW "pkg-config|pkg-config|pkgconf-pkg-config")
set(VP_PYTHON_ROW "the headers of Python 3.10 or later|python3-dev|python3-devel")
set(VP_LIBRARY_ROWS "zlib|zlib1g-dev|zlib-devel")
if(NOT VP_CAPTURE_ONLY)
  list(APPEND VP_LIBRARY_ROWS
       "libmicrohttpd >= 0.9.75|libmicrohttpd-dev|libmicrohttpd-devel"
       "libarchive|libarchive-dev|libarchive-devel"
       "jansson|libjansson-dev|jansson-devel")
  # For view_profile-fetch; without them, profiles of other machines cannot be read or captured.
  set(VP_FETCH_ROWS "libcurl >= 7.85|libcurl4-openssl-dev|libcurl-devel"
                    "libcrypto|libssl-dev|openssl-devel")
endif()
if(VP_IGZIP)
  set(VP_ISAL_ROWS "libisal|libisal-dev|isa-l-devel") # zlib without it, which is slower
endif()

# The rows whose module pkg-config does not find.
function(vp_missing_modules out)
  set(missing)
  foreach(row ${ARGN})
    string(REGEX REPLACE "[|].*" "" module "${row}")
    execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --exists "${module}" RESULT_VARIABLE failed
                    OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      list(APPEND missing "${row}")
    endif()
  endforeach()
  set(${out} ${missing} PARENT_SCOPE)
endfunction()

# The cells of one column, joined.
function(vp_row_cells out column separator)
  set(cells)
  foreach(row ${ARGN})
    string(REPLACE "|" ";" parts "${row}")
    list(GET parts ${column} cell)
    list(APPEND cells "${cell}")
  endforeach()
  list(JOIN cells "${separator}" cells)
  set(${out} "${cells}" PARENT_SCOPE)
endfunction()

# Sets `out` to the message about everything that is missing, or to "".
function(vp_missing_packages out)
  set(required)
  set(optional)
  if(NOT CMAKE_C_COMPILER)
    list(APPEND required "${VP_COMPILER_ROW}")
  endif()
  if(PKG_CONFIG_FOUND)
    vp_missing_modules(libraries ${VP_LIBRARY_ROWS})
    vp_missing_modules(optional ${VP_FETCH_ROWS} ${VP_ISAL_ROWS})
    if(ZLIB_FOUND) # CMake finds a zlib without a file for pkg-config
      list(FILTER libraries EXCLUDE REGEX "^zlib[|]")
    endif()
  else() # no library can be looked up
    set(libraries "${VP_PKG_CONFIG_ROW}" ${VP_LIBRARY_ROWS})
    set(optional ${VP_FETCH_ROWS} ${VP_ISAL_ROWS})
  endif()
  list(APPEND required ${libraries})
  if(SKBUILD AND VP_PYTHON)
    find_package(Python3 3.10 QUIET COMPONENTS Interpreter Development.Module)
    if(NOT Python3_Development.Module_FOUND)
      list(APPEND required "${VP_PYTHON_ROW}")
    endif()
  endif()
  set(${out} "" PARENT_SCOPE)
  if(NOT required)
    if(optional AND PROJECT_IS_TOP_LEVEL)
      vp_row_cells(names 0 ", " ${optional})
      message(STATUS "optional libraries not found: ${names}")
    endif()
    return()
  endif()
  vp_row_cells(names 0 ", " ${required})
  vp_row_cells(debian 1 " " ${required} ${optional})
  vp_row_cells(fedora 2 " " ${required} ${optional})
  set(lines "packages missing: ${names}"
      "  Debian, Ubuntu:  apt-get install ${debian}"
      "  Fedora, RHEL:    dnf install ${fedora}")
  if(optional)
    vp_row_cells(names 0 ", " ${optional})
    list(APPEND lines "  Optional of these: ${names}")
  endif()
  if(NOT VP_CAPTURE_ONLY)
    list(APPEND lines
         "  Or pip install a released wheel, view_profile-*-manylinux_2_28_*.whl, which contains the"
         "  libraries. scripts/wheel builds one (docs/packages.md).")
  endif()
  list(JOIN lines "\n" text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Finding a compiler does not fail, unlike enabling its language.
if(NOT CMAKE_C_COMPILER)
  include(CheckLanguage)
  check_language(C)
endif()
if(CMAKE_C_COMPILER)
  enable_language(C)
  find_package(ZLIB QUIET)
endif()
find_package(PkgConfig QUIET)
