#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads all RLTP frames that leave or enter an interface until SIGTERM, then prints one line:

    frames N sealed N clear N payload N injected N

sealed: frames with a tag. clear: other frames that belong to a session. payload: frames that
contain the text. With --inject it also sends copies of sealed frames that leave: one unchanged, one
changed.

usage: attacker.py INTERFACE TEXT [--inject]
"""
import signal
import socket
import struct
import sys

ETHERNET, UDP_BYTES = 14, 8
MANAGED = 0x40  # types from this one on belong to the manager
HANDSHAKE = {1, 2, 3, 9}  # HELLO, HELLO_ACK, RESET, REJECT
COMMON, COUNTER = 32, 28  # bytes of the common header; offset of the counter

counts = dict.fromkeys(("frames", "sealed", "clear", "payload", "injected"), 0)


def finish(*_):
    print(" ".join(f"{k} {v}" for k, v in counts.items()), flush=True)
    sys.exit(0)


def inject(raw, packet, start):
    """Sends a replay, and a copy with a counter that was not used yet and a flipped bit. A UDP
    checksum of 0 means that there is none."""
    for changed in (False, True):
        copy = bytearray(packet)
        copy[start - 2 : start] = b"\0\0"
        if changed:
            copy[start + COUNTER + 2] ^= 0x10
            copy[start + COMMON + counts["injected"] % 16] ^= 1
        try:
            raw.send(bytes(copy))
        except OSError:  # the queue of the interface is full
            return
        counts["injected"] += 1


def frame_of(packet):
    """Returns the position of the UDP payload of an IPv4 packet, or None."""
    if len(packet) < ETHERNET + 20 or packet[12:14] != b"\x08\0":
        return None
    if packet[ETHERNET + 9] != socket.IPPROTO_UDP:
        return None
    start = ETHERNET + 4 * (packet[ETHERNET] & 15) + UDP_BYTES
    return start if len(packet) >= start + COMMON else None


def main():
    interface, text = sys.argv[1], sys.argv[2].encode()
    injecting = "--inject" in sys.argv
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
    raw.bind((interface, 0))
    signal.signal(signal.SIGTERM, finish)
    print("watching", flush=True)
    while True:
        packet, where = raw.recvfrom(65535)
        start = frame_of(packet)
        if start is None:
            continue
        version, kind = packet[start] >> 4, packet[start + 1]
        (length,) = struct.unpack_from("!H", packet, start + 24)
        counts["frames"] += 1
        counts["payload"] += text in packet
        counts["clear"] += version == 1 and kind not in HANDSHAKE and kind < MANAGED
        if version != 2:
            continue
        counts["sealed"] += 1
        outgoing = where[2] == socket.PACKET_OUTGOING
        whole = start + (packet[start] & 15) * 8 + length == len(packet)
        if injecting and outgoing and whole and counts["injected"] < 2000:
            inject(raw, packet, start)


main()
