package countersign

import (
	"encoding/binary"
	"math/bits"
)

const keccakRate = 136

// keccakConstants are computed with the linear feedback shift register of the specification (FIPS 202 §3.2.5).
var keccakConstants = func() (constants [24]uint64) {
	register := 1
	for round := range constants {
		for power := 0; power < 7; power++ {
			if register&1 == 1 {
				constants[round] |= 1 << (1<<power - 1)
			}
			register <<= 1
			if register&0x100 != 0 {
				register ^= 0x171
			}
		}
	}
	return constants
}()

// keccakPermute is Keccak-f[1600]; lane x, y has the index x + 5 y.
func keccakPermute(lanes *[25]uint64) {
	for _, constant := range keccakConstants {
		var columns [5]uint64
		for x := range columns {
			columns[x] = lanes[x] ^ lanes[x+5] ^ lanes[x+10] ^ lanes[x+15] ^ lanes[x+20]
		}
		for place := range lanes {
			x := place % 5
			lanes[place] ^= columns[(x+4)%5] ^ bits.RotateLeft64(columns[(x+1)%5], 1)
		}
		x, y, moved := 1, 0, lanes[1]
		for step := 0; step < 24; step++ {
			x, y = y, (2*x+3*y)%5
			place := x + 5*y
			lanes[place], moved = bits.RotateLeft64(moved, (step+1)*(step+2)/2%64), lanes[place]
		}
		for y := 0; y < 25; y += 5 {
			var row [5]uint64
			copy(row[:], lanes[y:y+5])
			for x := range row {
				lanes[y+x] = row[x] ^ (^row[(x+1)%5] & row[(x+2)%5])
			}
		}
		lanes[0] ^= constant
	}
}

// Keccak256 is Ethereum's hash function, whose padding differs from FIPS 202.
func Keccak256(message []byte) [32]byte {
	padded := append(append([]byte{}, message...), 1)
	padded = append(padded, make([]byte, (keccakRate-len(padded)%keccakRate)%keccakRate)...)
	padded[len(padded)-1] |= 0x80
	var lanes [25]uint64
	for ; len(padded) > 0; padded = padded[keccakRate:] {
		for lane := 0; lane < keccakRate/8; lane++ {
			lanes[lane] ^= binary.LittleEndian.Uint64(padded[8*lane:])
		}
		keccakPermute(&lanes)
	}
	var hash [32]byte
	for lane := 0; lane < 4; lane++ {
		binary.LittleEndian.PutUint64(hash[8*lane:], lanes[lane])
	}
	return hash
}
