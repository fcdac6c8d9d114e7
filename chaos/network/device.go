package network

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// mtu is the size of the largest packet. A large one carries more with fewer packets, and TCP
	// still has several under way.
	mtu = 16 << 10
	// headerBytes go before each packet: what the kernel says about its checksum (struct
	// virtio_net_hdr).
	headerBytes = 10
	// ipv4HeaderBytes is the least that an IPv4 packet has.
	ipv4HeaderBytes = 20
)

// openDevice creates a TUN device in the network namespace of the calling thread, assigns the
// address to it and sets it up. The kernel replaces "%d" in the name by the first free number. The
// device exists until the file is closed.
func openDevice(name string, address netip.Prefix) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	name, err = attach(fd, name)
	if err == nil {
		err = configure(name, address)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil // only now: what is no device yet can't be waited for
}

// attach creates the device of the file, and returns its name. The receiver of a packet from
// outside would verify its checksum, but there is none: both ends are on this machine.
func attach(fd int, name string) (string, error) {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return "", err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return "", fmt.Errorf("make the TUN device %s: %w", name, err)
	}
	if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, unix.TUN_F_CSUM); err != nil {
		return "", fmt.Errorf("leave out checksums on %s: %w", name, err)
	}
	return request.Name(), nil
}

// configure gives the interface its address and sets it up.
func configure(name string, address netip.Prefix) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	ip := address.Addr().As4()
	mask := (^uint32(0)) << (32 - address.Bits())
	for _, step := range []struct {
		what    string
		request uint
		set     func(*unix.Ifreq) error
	}{
		{"MTU", unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(mtu); return nil }},
		{"address", unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(ip[:]) }},
		{"netmask", unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error {
			return r.SetInet4Addr([]byte{byte(mask >> 24), byte(mask >> 16), byte(mask >> 8), byte(mask)})
		}},
		{"state", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }},
	} {
		if err := set(socket, name, step.request, step.set); err != nil {
			return fmt.Errorf("set the %s of %s: %w", step.what, name, err)
		}
	}
	return nil
}

func set(socket int, name string, request uint, value func(*unix.Ifreq) error) error {
	ifreq, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := value(ifreq); err != nil {
		return err
	}
	return unix.IoctlIfreq(socket, request, ifreq)
}

// setLoopbackUp makes 127.0.0.1 work in the namespace of the calling thread.
func setLoopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	up := func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }
	if err := set(socket, "lo", unix.SIOCSIFFLAGS, up); err != nil {
		return fmt.Errorf("set lo up: %w", err)
	}
	return nil
}

// destination returns the destination of a packet with its device header.
func destination(packet []byte) (to netip.Addr, ok bool) {
	if len(packet) < headerBytes+ipv4HeaderBytes || packet[headerBytes]>>4 != 4 {
		return to, false
	}
	return netip.AddrFrom4([4]byte(packet[headerBytes+16 : headerBytes+20])), true
}
