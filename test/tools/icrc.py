# SPDX-License-Identifier: BSD-3-Clause
"""Verifies the ICRC of RoCEv2 packets in a capture, with an independent CRC-32 (zlib).

    icrc.py CAPTURE      a pcapng of raw IPv4; prints a line "FRAME good" or "FRAME bad" for each
"""
import struct
import sys
import zlib

PACKET = 6


def packets(capture):
    at = 0
    while at < len(capture):
        kind, total = struct.unpack_from("<II", capture, at)
        if kind == PACKET:
            kept = struct.unpack_from("<I", capture, at + 20)[0]
            yield capture[at + 28:at + 28 + kept]
        at += total


def icrc(packet):
    masked = bytearray(packet[:-4])
    for at in (1, 8, 10, 11, 26, 27, 32):  # TOS, TTL, both checksums, and BTH's resv8a do not count
        masked[at] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


for number, one in enumerate(packets(open(sys.argv[1], "rb").read()), 1):
    print(number, "good" if icrc(one) == one[-4:] else "bad")
