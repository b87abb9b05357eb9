#!/bin/busybox sh
# A guest's first program: mounts this machine's files, read-only below a file system in memory, and goes on there.
# shellcheck shell=dash
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
while read -r module; do
    insmod "$module"
done </modules/order

# shellcheck disable=SC1091  # run writes it
. /settings
mkdir /lower /upper /root
mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=loose,ro root /lower
mount -t tmpfs -o size=75% upper /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work root /root
umount /proc
mount --move /dev /root/dev
# shellcheck disable=SC2154  # all three are set in /settings
exec switch_root /root "$start" "$guest" "$directory" "$modules"
