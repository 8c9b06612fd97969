#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Passes datagrams between clients and a manager, and changes the version of the wire format.

    other_version.py MANAGER_PORT requests|answers VERSION FILE

With `requests` the manager receives frames of a client of that version; with `answers` clients
receive frames of a manager of that version. Listens on 127.0.0.1, and writes the port to FILE.
"""

import selectors
import socket
import sys

manager = ("127.0.0.1", int(sys.argv[1]))
changes, version = sys.argv[2], int(sys.argv[3])


def changed(data, way):
    """Returns the datagram with the version in the first four bits."""
    if way != changes:
        return data
    return bytes([version << 4 | data[0] & 15]) + data[1:]


front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
front.bind(("127.0.0.1", 0))
with open(sys.argv[4], "w", encoding="ascii") as file:
    file.write(f"{front.getsockname()[1]}\n")
ready = selectors.DefaultSelector()
ready.register(front, selectors.EVENT_READ)
backs = {}
while True:
    for key, _ in ready.select():
        data, sender = key.fileobj.recvfrom(65536)
        if not data:
            continue
        if key.fileobj is not front:
            front.sendto(changed(data, "answers"), key.data)
            continue
        if sender not in backs:
            backs[sender] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            ready.register(backs[sender], selectors.EVENT_READ, sender)
        backs[sender].sendto(changed(data, "requests"), manager)
