#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Forwards datagrams between one client and a manager on loopback. When the manager answers the
first request of a channel, kills the manager's process and exits. Prints its
own port first, and "killed" at the end.

usage: cut_answer.py MANAGER_PORT MANAGER_PID
"""
import os
import select
import signal
import socket
import sys

STEP, ANSWER = 32 + 10, 4  # offset of `step` in a frame CHANNEL; its value for an answer

port, pid = int(sys.argv[1]), int(sys.argv[2])
to_client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to_client.bind(("127.0.0.1", 0))
to_manager = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to_manager.connect(("127.0.0.1", port))
client = None
print(to_client.getsockname()[1], flush=True)
while True:
    ready, _, _ = select.select([to_client, to_manager], [], [])
    if to_client in ready:
        data, client = to_client.recvfrom(65536)
        to_manager.send(data)
    if to_manager in ready:
        data = to_manager.recv(65536)
        if data[STEP] == ANSWER:
            os.kill(pid, signal.SIGKILL)
            print("killed", flush=True)
            sys.exit(0)
        to_client.sendto(data, client)
