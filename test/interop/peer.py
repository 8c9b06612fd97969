#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the shipped node against a second implementation of RLTP, written from
docs/reference/wire.md alone.

  peer.py INTEROP-NODE

Opens a session with the node INTEROP-NODE, PUTs, GETs and sends NAPs while half of the packets sent
and a third of those received are lost, and checks every byte. Restarts as a new incarnation; the
node must reject the old session by RESET with the token of the old handshake. The first incarnation
is an older version without atomics, trailers and cookies; the second has them. Forged HELLOs
precede the handshake of the second, so it needs a cookie. Exit status: 0 if all passed.
"""
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time

NODE, PEER = 1, 2
PEER_MAGIC, PEER_KEY = 0x50454552, 77  # node.c has copies
HELLO, HELLO_ACK, RESET, ACK, NACK, CREDIT = 0x01, 0x02, 0x03, 0x10, 0x11, 0x12
COOKIE, RESYNC = 0x0A, 0x13
NAP, PUT, GET_REQ, GET_RSP, ATOMIC, ATOMIC_RSP = 0x20, 0x21, 0x22, 0x23, 0x24, 0x25
FETCH_ADD, COMPARE_SWAP, FETCH_MIN, FETCH_MAX, FETCH_AND, FETCH_OR, FETCH_XOR = range(16, 23)
AR, ACKV, RTX, FIRST, LAST, SOL, BMP, CRCP = 1, 2, 4, 8, 16, 32, 512, 2048
IMM, CREDIT_VALID, TRAILER = 128, 4096, 8192
FEATURES = 19  # atomics, trailers, cookies: the features of this peer
NODE_FEATURES = 127  # also held packets, retry on call, the boot of the machine, long frames
HELLOS = 32  # checked per second without a cookie
UNSUPPORTED = -13  # DXP_EUNSUPPORTED
ADD_AT = 200000  # node.c defines it too
M64 = (1 << 64) - 1
UNIT = 1408
WINDOW = 32
NAPS_TAKEN = 1 << 20  # credit of this peer: more than the tests send
REPEAT_S = 0.03
LIMIT_S = 40
COMMON = struct.Struct("!BBHIHHIIIHHI")
EXTENSION = struct.Struct("!HBBIIIQII")
GREETING = struct.Struct("!QIIIHHII16sQIIHBBI16s")
REPORT = struct.Struct("!IIIHBBHHIHHI")


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def clock():
    return int(time.monotonic() * 1e9 / 64) & 0xFFFFFFFF


def before(a, b):
    return (a - b) & 0xFFFFFFFF >= 1 << 31


class Frame:
    """A received frame; runs the checks of docs/reference/wire.md in their order."""

    def __init__(self, data):
        check(len(data) >= 32, "a frame shorter than its header")
        (version, self.type, self.flags, self.session, self.source, self.target, self.psn,
         self.time, self.cum, length, _, crc) = COMMON.unpack_from(data)
        header = (version & 15) * 8
        check(version >> 4 == 1 and len(data) == header + length, "a frame of another length")
        covered = data if self.flags & CRCP else data[:header]
        check(crc32c(covered[:28] + bytes(4) + covered[32:]) == crc, "a wrong checksum")
        check(self.source == NODE and self.target == PEER, "wrong node ids")
        if header >= 64:
            (_, _, _, self.magic, self.message, self.sub, self.address, self.key,
             self.total) = EXTENSION.unpack_from(data, 32)
            check(header == 64 + 8 * bool(self.flags & IMM) + 8 * bool(self.flags & TRAILER),
                  "a header of another length than its flags say")
            self.trailer = 0
            if self.flags & TRAILER:
                check(self.type == NAP and self.flags & LAST, "a trailer where none may be")
                self.trailer, = struct.unpack_from("!Q", data, header - 8)
        self.body = data[header:]


class Peer:
    """One incarnation of node 2."""

    def __init__(self, sock, address, magic, incarnation, losses, features):
        self.features = features
        self.sock, self.address, self.magic = sock, address, magic
        self.incarnation, self.random, self.lossy = incarnation, random.Random(losses), True
        self.session = self.random.getrandbits(32) | 1
        self.first = 0xFFFFFFF0  # packet numbers wrap soon
        self.next = self.first
        self.peer = None  # session of the node, after its handshake
        self.waiting = {}  # packet number: (frame, time of the last transmission)
        self.queue = []  # frames without a number yet
        self.messages = 0
        self.events, self.limit = 0, 0
        self.cum, self.held = 0, set()
        self.naps, self.parts, self.memory = {}, {}, bytearray(1 << 18)
        self.trailers, self.old, self.atomics = {}, {}, 0
        self.put_bytes = self.repeats = self.dropped = self.bitmaps = 0
        self.resets = []
        self.cookie = (0, 0)  # for the next HELLO, in the place of the echo

    # ---- sending ----

    def frame(self, kind, flags, body=b"", psn=0, extension=b"", session=None):
        words = (32 + len(extension)) // 8
        if session is None:
            session = self.peer[0] if self.peer else 0
        header = COMMON.pack(16 | words, kind, flags | CRCP, session, PEER, NODE, psn, clock(),
                             self.cum, len(body), 0, 0)
        whole = header + extension + body
        return whole[:28] + struct.pack("!I", crc32c(whole)) + whole[32:]

    def hello(self, kind, echo=(0, 0), tag=bytes(16)):
        body = GREETING.pack(self.incarnation, 1, self.session, self.first, WINDOW, UNIT,
                             self.features, 0,
                             b"second implem.--", 0x5555, echo[0], echo[1], 60000, 0, 0, 0,
                             tag)
        session = echo[0] if kind == HELLO_ACK else 0
        self.sock.sendto(self.frame(kind, 0, body, session=session), self.address)

    def greet(self):
        while not self.peer:
            self.hello(HELLO, self.cookie)
            self.turn(0.1)

    def greet_flooded(self):
        """The limit starts anew with each second of the monotonic clock, also read by the node."""
        while time.monotonic() % 1 > 0.5:
            time.sleep(0.05)
        for _ in range(HELLOS + 1):
            self.hello(HELLO, tag=b"forged tag 16 b.")
        while self.cookie == (0, 0) and not self.peer:
            self.hello(HELLO)
            self.turn(0.05)
        check(not self.peer, "a handshake above the limit without a cookie")
        self.greet()

    def message(self, kind, payload, address=0, key=0, event=False, trailer=0):
        """Queues one message of the stream to queue pair 0 of function 0."""
        while event and self.events == self.limit:  # out of credit: request more
            entry = struct.pack("!HHI", 0, 0, self.limit)
            self.sock.sendto(self.frame(CREDIT, ACKV | AR, entry), self.address)
            self.turn(0.02)
        self.events = (self.events + event) & 0xFFFFFFFF
        count = max(1, -(-len(payload) // UNIT))
        for sub in range(count):
            part = payload[sub * UNIT:(sub + 1) * UNIT]
            flags = (FIRST if sub == 0 else 0) | (LAST if sub + 1 == count else 0)
            at = address + sub * UNIT
            extension = EXTENSION.pack(0, 0, 0, self.magic, self.messages, sub, at, key,
                                       len(payload))
            if trailer and flags & LAST:
                flags |= TRAILER
                extension += struct.pack("!Q", trailer)
            self.queue.append((kind, flags, part, extension))
        self.messages += 1

    def answer(self, message, address, old):
        """Queues an answer. Answers belong to no stream and have no magic."""
        extension = EXTENSION.pack(0, 0, 0, 0, message, 0, address, 0, 8)
        self.queue.append((ATOMIC_RSP, FIRST | LAST, struct.pack("!Q", old), extension))

    def transmit(self, psn):
        kind, flags, part, extension = self.waiting[psn][0]
        again = self.waiting[psn][1] > 0
        self.repeats += again
        self.waiting[psn][1] = time.monotonic()
        if self.lossy and self.random.random() < 0.5:
            return  # simulated loss
        flags |= ACKV | (RTX | AR if again else 0)
        self.sock.sendto(self.frame(kind, flags, part, psn, extension), self.address)

    def send(self):
        while self.queue and len(self.waiting) < WINDOW:
            self.waiting[self.next] = [self.queue.pop(0), 0]
            self.transmit(self.next)
            self.next = (self.next + 1) & 0xFFFFFFFF
        for psn, (_, sent) in list(self.waiting.items()):
            if time.monotonic() - sent > REPEAT_S:
                self.transmit(psn)

    # ---- receiving ----

    def acknowledge(self, frame):
        words = 0
        bitmap = 0
        for psn in self.held:
            distance = (psn - self.cum) & 0xFFFFFFFF
            bitmap |= 1 << distance
            words = max(words, distance // 64 + 1)
        self.bitmaps += words > 0
        packed = b"".join(struct.pack("!Q", bitmap >> 64 * w & (1 << 64) - 1)
                          for w in range(words))
        body = REPORT.pack(frame.time, frame.psn, 0, 0, words, 0, WINDOW, 0, 0, 0, 0,
                           NAPS_TAKEN) + packed
        flags = ACKV | CREDIT_VALID | (BMP if words else 0)
        self.sock.sendto(self.frame(ACK, flags, body), self.address)

    def acknowledged(self, frame):
        for psn in list(self.waiting):
            if before(psn, frame.cum):
                del self.waiting[psn]
        if frame.type != ACK:
            return
        (_, _, _, offset, words, _, _, _, _, queue_pair, _, limit) = REPORT.unpack_from(frame.body)
        if frame.flags & CREDIT_VALID and queue_pair == 0 and before(self.limit, limit):
            self.limit = limit
        for word in range(words):
            bits, = struct.unpack_from("!Q", frame.body, 32 + 8 * word)
            for bit in range(64):
                if bits >> bit & 1:
                    psn = (frame.cum + offset + 64 * word + bit) & 0xFFFFFFFF
                    self.waiting.pop(psn, None)

    def data(self, frame):
        """Accepts each packet once, in any order; loses a third of them."""
        if self.lossy and self.random.random() < 0.33:
            self.dropped += 1
            return
        if not before(frame.psn, self.cum) and frame.psn not in self.held:
            self.held.add(frame.psn)
            self.place(frame)
            while self.cum in self.held:
                self.held.remove(self.cum)
                self.cum = (self.cum + 1) & 0xFFFFFFFF
        self.acknowledge(frame)

    def place(self, frame):
        if frame.type == GET_RSP:
            self.parts.setdefault(frame.message, {})[frame.address] = frame.body
        elif frame.type == ATOMIC_RSP:
            check(frame.key == 0 and frame.message not in self.old, "an answer that is none")
            self.old[frame.message], = struct.unpack("!Q", frame.body)
        else:
            check(frame.magic == PEER_MAGIC, "another magic than ours")
        if frame.type == ATOMIC:
            check(self.features & 1, "an atomic that we said we do not know")
            op, message, operand, _ = struct.unpack("!BxxxIQQ", frame.body)
            check(op == FETCH_ADD and frame.key == PEER_KEY, "another atomic than asked for")
            old, = struct.unpack_from("<Q", self.memory, frame.address)
            struct.pack_into("<Q", self.memory, frame.address, old + operand)
            self.atomics += 1
            self.answer(message, frame.address, old)
        if frame.type == NAP:
            check(frame.message not in self.naps, "a NAP twice")
            self.naps[frame.message] = frame.body
            self.trailers[frame.message] = frame.trailer
            check(self.features & 2 or not frame.trailer, "a trailer that we would not know")
        if frame.type == PUT:
            check(frame.key == PEER_KEY, "another key than ours")
            self.memory[frame.address:frame.address + len(frame.body)] = frame.body
            self.put_bytes += len(frame.body)

    def greeted(self, frame):
        hello = GREETING.unpack(frame.body)
        if frame.type == HELLO_ACK and hello[10] != self.session:
            return  # answers the previous incarnation
        if not self.peer:
            check(hello[6] == NODE_FEATURES, "the node announces other features")
            self.peer = (hello[2], hello[9])
            self.cum = hello[3]
            self.limit = hello[12] or 1
        if frame.type == HELLO:
            self.hello(HELLO_ACK, (hello[2], hello[3]))

    def receive(self, data):
        frame = Frame(data)
        if frame.type in (HELLO, HELLO_ACK):
            self.greeted(frame)
        elif frame.type == COOKIE:
            check(frame.session == 0 and len(frame.body) == 32, "a COOKIE of another form")
            session, first, high, low, proof = struct.unpack("!IIII16s", frame.body)
            self.cookie = (high, low)
            check((session, first) == (self.session, self.first), "a COOKIE for another HELLO")
            check(any(self.cookie) and proof == bytes(16), "a COOKIE without a cookie")
        elif frame.type == RESET:
            self.resets.append(struct.unpack("!IIQ", frame.body))
        elif frame.session != self.session or not self.peer:
            return  # from the previous incarnation
        elif frame.type == CREDIT and not frame.flags & AR:
            for queue_pair, _, limit in struct.iter_unpack("!HHI", frame.body):
                if queue_pair == 0 and before(self.limit, limit):
                    self.limit = limit
        elif frame.type == NACK:
            code = frame.body[0]
            check(code == 1, "refused, code %d" % code)
        else:
            if frame.flags & ACKV:
                self.acknowledged(frame)
            if frame.type >= RESYNC:
                self.data(frame)

    def turn(self, seconds=0.005):
        self.send()
        while select.select([self.sock], [], [], seconds)[0]:
            self.receive(self.sock.recv(65536))
            seconds = 0

    def until(self, condition, what):
        end = time.monotonic() + LIMIT_S
        while not condition():
            check(time.monotonic() < end, "waited in vain: " + what)
            self.turn()


def exchange(peer, key, seed, size):
    """PUT, GET, NAPs and a PUT by the node; compares each byte."""
    data = random.Random(seed).randbytes(size)
    peer.message(PUT, data, 0, key)
    body = struct.pack("!QIIQ", 0, 5, 9, size)
    peer.message(GET_REQ, body, 0, key)
    texts = [b"echo %d " % i + data[:i * 100] for i in range(12)]
    trailers = [seed * i & M64 if peer.features else 0 for i in range(12)]
    for text, trailer in zip(texts, trailers):
        peer.message(NAP, text, 0, 0, event=True, trailer=trailer)
    peer.until(lambda: len(peer.naps) == len(texts), "the echoes")
    check([peer.naps[i] for i in sorted(peer.naps)] == texts, "an echo with other bytes")
    check([peer.trailers[i] for i in sorted(peer.naps)] == trailers, "an echo's other trailer")

    peer.until(lambda: sum(map(len, peer.parts.get(9, {}).values())) >= size, "the answer")
    answer = b"".join(part for _, part in sorted(peer.parts[9].items()))
    check(answer == data, "the node's memory is not what was PUT")
    peer.message(NAP, b"put %d" % size, 0, 0, event=True)
    peer.until(lambda: peer.put_bytes >= size, "the node's PUT")
    check(peer.put_bytes == size and peer.memory[:size] == data, "a PUT with other bytes")
    peer.until(lambda: not peer.waiting and not peer.queue, "acknowledgements")


def atomics(peer, key):
    """Each operation runs once at the node, despite lost packets; and one of the node runs here."""
    after = {
        FETCH_ADD: lambda v, a, _: v + a & M64, COMPARE_SWAP: lambda v, a, b: b if v == a else v,
        FETCH_MIN: lambda v, a, _: min(v, a), FETCH_MAX: lambda v, a, _: max(v, a),
        FETCH_AND: lambda v, a, _: v & a, FETCH_OR: lambda v, a, _: v | a,
        FETCH_XOR: lambda v, a, _: v ^ a,
    }
    value, expected = 0, {}
    draw = random.Random(peer.incarnation)
    for i in range(60):
        op = FETCH_ADD if i % 2 else draw.choice(list(after))
        operand = value if op == COMPARE_SWAP and i % 4 else draw.getrandbits(64)
        swap = draw.getrandbits(64)
        expected[1000 + i] = value
        value = after[op](value, operand, swap)
        peer.message(ATOMIC, struct.pack("!BxxxIQQ", op, 1000 + i, operand, swap), ADD_AT, key)
    peer.until(lambda: len(peer.old) == len(expected), "answers to atomics")
    check(peer.old == expected, "another value before than there was")
    peer.message(GET_REQ, struct.pack("!QIIQ", 0, 5, 10, 8), ADD_AT, key)
    peer.until(lambda: 10 in peer.parts, "the word")
    check(struct.unpack("<Q", peer.parts[10][0])[0] == value, "another value than it must be")


def addition(peer):
    """The node adds here, or gets the answer that this peer does not support it."""
    count = len(peer.naps)
    struct.pack_into("<Q", peer.memory, ADD_AT, 1 << 40)
    peer.message(NAP, b"add 77", 0, 0, event=True)
    peer.until(lambda: len(peer.naps) > count, "how the addition ended")
    last = max(peer.naps)
    status, old = map(int, peer.naps[last].split()[1:])
    if peer.features:
        check(status == 0 and old == 1 << 40 == peer.trailers[last], "an addition gone wrong")
        check(struct.unpack_from("<Q", peer.memory, ADD_AT)[0] == old + 77, "not what was added")
        check(peer.atomics == 1, "added twice")
    else:
        check(status == UNSUPPORTED, "the node did not say that we cannot")


def stale_session(peer, old):
    """A packet of the old session is answered by RESET with the token of its handshake."""
    extension = EXTENSION.pack(0, 0, 0, old.magic, 0, 0, 0, 0, 4)
    data = peer.frame(NAP, FIRST | LAST, b"late", old.next, extension, session=old.peer[0])
    peer.sock.sendto(data, peer.address)
    peer.until(lambda: peer.resets, "a RESET")
    check(peer.resets[0] == (old.peer[0], 3, old.peer[1]), "a RESET that proves nothing")


def main():
    seed = int(os.environ.get("DXP_SEED", random.randrange(1 << 32)))
    print("interop: seed %d; again with DXP_SEED=%d" % (seed, seed), flush=True)
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    node = subprocess.Popen([sys.argv[1], str(sock.getsockname()[1])], stdout=subprocess.PIPE)
    try:
        port, key, magic = map(int, node.stdout.readline().split())
        address = ("127.0.0.1", port)
        first = Peer(sock, address, magic, 1000, seed, 0)
        first.greet()
        exchange(first, key, seed, 100000)
        addition(first)
        second = Peer(sock, address, magic, 1001, seed + 1, FEATURES)
        second.greet_flooded()
        check(second.peer[0] != first.peer[0], "the node kept the session of one who is no more")
        exchange(second, key, seed + 1, 60001)
        atomics(second, key)
        addition(second)
        stale_session(second, first)
        second.lossy = False
        second.message(NAP, b"quit", 0, 0, event=True)
        second.send()
        check(node.wait(LIMIT_S) == 0, "the node did not end well")
        for peer in (first, second):
            print("interop: %d repeats, %d packets dropped, %d bitmaps sent" %
                  (peer.repeats, peer.dropped, peer.bitmaps))
            check(peer.repeats and peer.dropped and peer.bitmaps, "nothing was lost")
    finally:
        node.kill()


main()
