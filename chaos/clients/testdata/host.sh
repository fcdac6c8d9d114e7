# host.sh NAME SHARED DIR: a shell on a file system of its own. It begins as that of this machine; what is written is kept in
# memory, and SHARED is at /mnt. It sees no other processes than its own.
set -e
name=$1 shared=$2 dir=$3
mount --make-rprivate /
mount -t tmpfs tmpfs "$dir"
mkdir "$dir/upper" "$dir/work" "$dir/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$dir/root"
mount -t proc proc "$dir/root/proc"
mount --rbind /dev "$dir/root/dev"
mount --bind "$shared" "$dir/root/mnt"
cp "$shared/hosts" "$dir/root/etc/hosts"
install -m 0755 "$shared/systemctl" "$dir/root/usr/local/bin/systemctl"
install -m 0755 "$shared/kubectl" "$dir/root/usr/local/bin/kubectl"
ln -s systemctl "$dir/root/usr/local/bin/journalctl"
rm -rf "$dir/root/root/here"
mkdir -p "$dir/root/root/here"
cp "$shared/quorate" "$shared/quorate.service" "$dir/root/root/here"
# The reader's machine has the binary from the beginning, like one that has built it.
if [ "$name" = you ]; then install -m 0755 "$shared/quorate" "$dir/root/usr/local/bin/quorate"; fi
unset KUBECONFIG QUORATE_DATA_DIR
export HOME=/root PATH=/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin
exec chroot "$dir/root" sh -c 'cd /root/here && exec 2>&1 && exec sh'
