"""A guest's first file system: busybox, the modules that reach this machine's files, and init.sh.

Written in cpio's format "newc" (the kernel's Documentation/driver-api/early-userspace/buffer-format.rst), which takes
no program and no rights.
"""

import shlex
import stat

# In the order of insertion.
MODULES = ("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_console",
           "netfs", "fscache", "9pnet", "9pnet_virtio", "9p", "overlay")


def padded(data):
    return data + bytes(-len(data) % 4)


def entry(name, mode, data=b"", device=(0, 0)):
    name = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0)
    return padded(b"070701" + b"".join(b"%08x" % field for field in fields) + name) + padded(data)


def directory(name):
    return entry(name, stat.S_IFDIR | 0o755)


def program(name, data):
    return entry(name, stat.S_IFREG | 0o755, data)


def modules_of(image):
    """The modules that are no part of the kernel itself, in their order."""
    files = {file.stem: file for file in image.modules.glob("kernel/**/*.ko")}
    return [files[name] for name in MODULES if name in files]


def initramfs(image, init, settings):
    """The archive's bytes; init.sh finds the settings as shell variables."""
    modules = modules_of(image)
    lines = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in settings.items())
    order = "".join(f"/modules/{file.name}\n" for file in modules)
    return b"".join([
        *map(directory, ("bin", "dev", "modules", "proc", "sys")),
        entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)),
        program("bin/busybox", image.busybox.read_bytes()),
        program("init", init.read_bytes()),
        program("settings", lines.encode()),
        program("modules/order", order.encode()),
        *(program(f"modules/{file.name}", file.read_bytes()) for file in modules),
        entry("TRAILER!!!", 0)])
