// Addresses that Solana programs own, against @solana/web3.js as the oracle.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { programAddress } from '../../src/facts/solana-program-address.ts'

const CASES = 500

test('a program address is what @solana/web3.js derives', () => {
  for (let index = 0; index < CASES; index += 1) {
    const program = new PublicKey(
      createHash('sha256')
        .update(`program ${index % 7}`)
        .digest(),
    )
    const seeds = [Buffer.from(`seed ${index}`), createHash('sha256').update(`key ${index}`).digest()]
    const [expected] = PublicKey.findProgramAddressSync(seeds, program)
    expect(programAddress(program.toBase58(), seeds)).toBe(expected.toBase58())
  }
})
