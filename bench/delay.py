#!/usr/bin/env python3
"""A network of hosts with a delay, for kernels without netem: bench/delay.py SECONDS NAMESPACE...

Makes a device eth0 in each network namespace, trellis0 in this one, and passes IP packets between them, each SECONDS after
it was sent. The last number of an address, 10.77.0.N, is that of the N-th namespace; 10.77.0.254 is this one. It
prints "ready" once the devices are there, and runs until it is ended.

The kernel hands over up to 64 KB of a TCP stream at once, as it does to a network card that cuts them into packets
itself; otherwise the switch would be slower than the networks it stands for. In front of each packet is a header that
says so, which is passed on as it is.
"""
import collections
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI, IFF_VNET_HDR, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x4000, 0x40000000
TUNSETOFFLOAD, TUN_F_CSUM, TUN_F_TSO4 = 0x400454D0, 0x01, 0x02
HEADER = 10  # bytes of struct virtio_net_hdr
LARGEST_PACKET = 65536


def open_device(name, namespace=None):
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    if namespace:
        there = os.open("/run/netns/" + namespace, os.O_RDONLY)
        if libc.setns(there, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        os.close(there)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)
    libc.setns(here, CLONE_NEWNET)
    os.close(here)
    return device


def main():
    delay = float(sys.argv[1])
    devices = {254: open_device("trellis0")}
    for number, namespace in enumerate(sys.argv[2:], 1):
        devices[number] = open_device("eth0", namespace)
    print("ready", flush=True)
    waiting = collections.deque()  # of (when, device, packet); the delay is the same for all
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for device in select.select(list(devices.values()), [], [], pause)[0]:
            packet = os.read(device, HEADER + LARGEST_PACKET)
            to = devices.get(packet[HEADER + 19]) if packet[HEADER] >> 4 == 4 else None
            if to is not None:
                waiting.append((time.monotonic() + delay, to, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, device, packet = waiting.popleft()
            try:
                os.write(device, packet)
            except OSError:  # a device that is down or full loses packets, as a network does
                pass


main()
