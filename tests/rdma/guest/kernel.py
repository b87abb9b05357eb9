"""What the guests boot: QEMU, and Debian's kernel with its modules, unpacked in the user's cache once for all."""

import fcntl
import lzma
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections import namedtuple
from pathlib import Path

from missing import Missing

# kernel: the file to boot. modules: the directory lib/modules/VERSION. busybox: the guest's first program.
Image = namedtuple("Image", "kernel modules busybox")

EMULATOR = "qemu-system-x86_64"
META_PACKAGE = "linux-image-amd64"
# What is unpacked: the rest is four fifths, and drivers of devices that no guest has.
PARTS = ("./boot/vmlinuz-*", *(f"./lib/modules/*/{part}" for part in (
    "modules.*", "kernel/arch/*", "kernel/crypto/*", "kernel/fs/*", "kernel/lib/*", "kernel/net/*",
    "kernel/drivers/char/*", "kernel/drivers/infiniband/*", "kernel/drivers/net/*", "kernel/drivers/virtio/*")))


def required(program):
    found = shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"]))
    if not found:
        raise Missing(f"there is no program '{program}' here; run scripts/install_deps.sh --with-tests")
    return found


def emulator():
    if platform.machine() != "x86_64":
        raise Missing(f"guests run the programs of this machine, so they need it to be x86_64, not {platform.machine()}")
    return required(EMULATOR)


def busybox():
    path = Path(required("busybox"))
    if b"/lib64/ld-linux" in path.read_bytes():
        raise Missing(f"{path} needs shared libraries, which a guest does not have at first; install busybox-static")
    return path


def cache_directory():
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME") or tempfile.gettempdir()) / ".cache"
    return Path(base) / "fabricbench"


def image():
    """The kernel in the cache, which is filled when there is none, by one process for all that wait for it."""
    first_program = busybox()
    cache = cache_directory()
    newest = newest_kernel(cache)
    if not newest:
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with (cache / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not newest_kernel(cache):
                    fill(cache)
        except OSError as problem:
            raise Missing(f"no kernel for the guests: {problem}") from None
        newest = newest_kernel(cache)
    kernel = unpacked_kernel(newest)
    version = newest.name.partition("-")[2]
    return Image(kernel, newest.parents[1] / "lib" / "modules" / version, first_program)


def newest_kernel(cache):
    return max(cache.glob("linux-*/boot/vmlinuz-*"), key=lambda file: file.stat().st_mtime, default=None)


def unpacked_kernel(packed):
    """The kernel without its compression, beside it, since an emulated processor takes seconds to unpack it. QEMU starts it
    by its PVH entry. The packed one where it is not packed by xz, or the cache cannot be written to."""
    unpacked = packed.with_name(packed.name.replace("vmlinuz", "vmlinux"))
    if unpacked.exists():
        return unpacked
    data = packed.read_bytes()
    begin = data.find(b"\xfd7zXZ\0")
    try:
        elf = lzma.LZMADecompressor().decompress(data[begin:]) if begin >= 0 else b""
    except lzma.LZMAError:
        elf = b""
    if not elf.startswith(b"\x7fELF"):
        return packed
    try:
        with tempfile.TemporaryDirectory(dir=packed.parent) as name:
            (Path(name) / "kernel").write_bytes(elf)
            (Path(name) / "kernel").rename(unpacked)
    except OSError:
        return packed
    return unpacked


def output_of(*command, directory=None):
    """What a command printed. CalledProcessError, with its messages, where it failed."""
    return subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, check=True, capture_output=True, text=True,
                          timeout=90).stdout


def download(directory, options):
    """The package file of the newest kernel that apt knows of."""
    depends = output_of("apt-cache", *options, "depends", META_PACKAGE)
    package = re.search(r"Depends: (linux-image-\d\S+)", depends)
    if not package:
        raise Missing(f"no apt source has a kernel: {META_PACKAGE} depends on none")
    output_of("apt-get", *options, "download", package[1], directory=directory)
    return next(directory.glob(f"{package[1]}_*.deb"))


def fetch(directory):
    """Downloads by the package lists that are here, else by new ones of our own, which takes no rights."""
    try:
        return download(directory, [])
    except subprocess.CalledProcessError:
        state = directory / "state"
        (state / "lists" / "partial").mkdir(parents=True)
        options = ["-o", f"Dir::State::Lists={state}/lists", "-o", f"Dir::Cache={directory}/cache",
                   "-o", "APT::Sandbox::User="]
        # Without this a machine without network is told of packages that do not exist.
        options += ["-o", "APT::Update::Error-Mode=any"]
        output_of("apt-get", *options, "update", "-qq")
        return download(directory, options)


def unpack(package, target):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as source:
        subprocess.run(["tar", "--extract", "--wildcards", *PARTS], stdin=source.stdout, cwd=target, check=True)
    version = next((target / "lib" / "modules").iterdir()).name
    output_of("busybox", "depmod", "-b", str(target), version)
    if not (target / "lib" / "modules" / version / "modules.dep").stat().st_size:
        raise Missing("busybox depmod found no module dependencies; install busybox-static")


def without_options(command):
    """Those of apt, which are long and never the reason."""
    words = list(map(str, command))
    return " ".join(word for before, word in zip(["", *words], words) if "-o" not in (before, word))


def reason_of(messages):
    """What could not be fetched, which apt says before it says that something could not; else the last line."""
    lines = messages.strip().splitlines() or ["it gave no reason"]
    return next((line for line in lines if "Failed to fetch" in line), lines[-1])


def fill(cache):
    """Unpacks a kernel beside the cache's others, all of it or nothing."""
    for tool in ("apt-get", "apt-cache", "dpkg-deb", "tar"):
        if not shutil.which(tool):
            raise Missing(f"the guests' kernel comes from Debian's packages, and there is no program '{tool}' here")
    try:
        with tempfile.TemporaryDirectory(dir=cache, prefix="unpacking-") as name:
            package = fetch(Path(name))
            target = Path(name) / "unpacked"
            target.mkdir(mode=0o755)
            unpack(package, target)
            target.rename(cache / package.name.partition("_")[0])
    except subprocess.CalledProcessError as problem:
        raise Missing(f"no kernel for the guests: '{without_options(problem.cmd)}' failed: "
                      f"{reason_of(problem.stderr or '')}") from None
    except subprocess.TimeoutExpired as problem:
        raise Missing(f"no kernel for the guests: '{without_options(problem.cmd)}' took {problem.timeout:g} s") from None
