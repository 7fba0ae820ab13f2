// Program-derived Solana addresses, compared with @solana/web3.js.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { programAddress } from '../../src/facts/solana-program-address.ts'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

test('program addresses equal those of @solana/web3.js', () => {
  for (let index = 0; index < 500; index += 1) {
    const program = new PublicKey(sha256(`program ${index % 7}`))
    const seeds = [Buffer.from(`seed ${index}`), sha256(`key ${index}`)]
    const [expected] = PublicKey.findProgramAddressSync(seeds, program)
    expect(programAddress(program.toBase58(), seeds)).toBe(expected.toBase58())
  }
})
