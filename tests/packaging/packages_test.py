"""The packages that CPack makes of the build."""

import unittest

from installing import succeed
from package_files import BROUGHT, PackageTest


class Deb(PackageTest):  # 1 rank, 60 s, extended

    def test_has_the_files_and_needs_mpi_only(self):
        package = self.make("DEB", "dpkg-shlibdeps")
        lines = [line.split(" -> ")[0] for line in succeed("dpkg-deb", "--contents", package).splitlines()]
        self.check_files({"/" + line.split(" ./", 1)[1] for line in lines})
        self.check_needs(succeed("dpkg-deb", "--field", package, "Depends"), "mpi")
        self.assertEqual(succeed("dpkg-deb", "--field", package, "Package").strip(), "fabricbench")


class Rpm(PackageTest):  # 1 rank, 100 s, extended

    def test_has_the_files_and_needs_mpi_only(self):
        package = self.make("RPM", "rpmbuild")
        self.check_files(set(succeed("rpm", "-qlp", package).splitlines()))
        self.check_needs(succeed("rpm", "-qp", "--requires", package), "libmpi")
        for name in BROUGHT:
            self.assertNotIn(name, succeed("rpm", "-qp", "--provides", package))


if __name__ == "__main__":
    unittest.main()
