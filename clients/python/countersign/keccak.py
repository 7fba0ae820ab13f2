"""Keccak-256, Ethereum's hash function. Its padding differs from FIPS 202 (``hashlib.sha3_256``)."""

from __future__ import annotations

from typing import List

_MASK = (1 << 64) - 1
_RATE = 136


def _round_constants() -> List[int]:
    """Computed with the linear feedback shift register of the specification (FIPS 202 §3.2.5)."""
    constants: List[int] = []
    register = 1
    for _ in range(24):
        constant = 0
        for power in range(7):
            if register & 1:
                constant |= 1 << ((1 << power) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


_CONSTANTS = _round_constants()


def _rotate(lane: int, bits: int) -> int:
    return ((lane << bits) | (lane >> (64 - bits))) & _MASK if bits else lane


def _permute(lanes: List[int]) -> None:
    """Applies Keccak-f[1600] in place; lane x, y has the index x + 5 y."""
    for constant in _CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        for x in range(5):
            parity = columns[(x + 4) % 5] ^ _rotate(columns[(x + 1) % 5], 1)
            for y in range(0, 25, 5):
                lanes[x + y] ^= parity
        x, y, moved = 1, 0, lanes[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            place = x + 5 * y
            lanes[place], moved = _rotate(moved, (step + 1) * (step + 2) // 2 % 64), lanes[place]
        for y in range(0, 25, 5):
            row = lanes[y : y + 5]
            for x in range(5):
                lanes[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & _MASK)
        lanes[0] ^= constant


def keccak256(message: bytes) -> bytes:
    padded = bytearray(message + b"\x01" + bytes(-(len(message) + 1) % _RATE))
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), _RATE):
        for lane in range(_RATE // 8):
            place = start + 8 * lane
            lanes[lane] ^= int.from_bytes(padded[place : place + 8], "little")
        _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
