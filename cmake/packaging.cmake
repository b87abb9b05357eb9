# `cpack -G DEB` and `cpack -G RPM` in the build folder. A package is for the distribution, and the MPI, that it was built with.
set(CPACK_PACKAGE_NAME fabricbench)
set(CPACK_PACKAGE_VENDOR "fabricbench")
set(CPACK_PACKAGE_CONTACT "fabricbench maintainers <maintainers@fabricbench.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Benchmarks of a cluster's network, started by MPI")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)

# The package that has mpirun; libraries are found by what the programs load.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE launcher ERROR_QUIET)
set(mpi_package_deb openmpi-bin)
set(mpi_package_rpm openmpi)
if(launcher MATCHES "HYDRA")
  set(mpi_package_deb mpich)
  set(mpi_package_rpm mpich)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_DEPENDS ${mpi_package_deb})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${FABRICBENCH_BROUGHT_LIBRARIES})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-jinja2, python3-matplotlib, python3-plotly, parallel")

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0")
set(CPACK_RPM_PACKAGE_GROUP "Applications/System")
set(CPACK_RPM_PACKAGE_REQUIRES ${mpi_package_rpm})
set(CPACK_RPM_PACKAGE_SUGGESTS "python3, python3-jinja2, python3-matplotlib, python3-plotly, parallel")
# Those are neither offered to other packages nor asked of them.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global __provides_exclude_from /lib.*/fabricbench/
%global __requires_exclude ^lib(fmt|simdjson|hwloc)[.]so")
include(CPack)
