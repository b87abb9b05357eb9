-- A module file for Lmod. It lies in PREFIX/share/fabricbench/modulefiles/fabricbench, and finds PREFIX from there:
--   module use PREFIX/share/fabricbench/modulefiles && module load fabricbench
help([[Benchmarks of a cluster's network, started by MPI. Load the MPI that it was built with first.]])
whatis("Name: fabricbench")
whatis("Version: " .. myModuleVersion())
whatis("Description: benchmarks of a cluster's network")

local prefix = myFileName():match("^(.*)/share/fabricbench/modulefiles/")
prepend_path("PATH", pathJoin(prefix, "bin"))
-- For the examples, which run scripts of this folder.
setenv("FABRICBENCH", pathJoin(prefix, "share/fabricbench"))
