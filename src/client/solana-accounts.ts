// Addresses on Solana: base58 texts as keys, and the accounts that a program keeps at addresses of their seeds.
import { PublicKey } from '@solana/web3.js'
import { decodeKey } from './base58.ts'

/** @throws ArgumentInvalidError */
export const publicKeyOf = (argument: string, text: string): PublicKey => new PublicKey(decodeKey(argument, text))

export const accountOf = (program: PublicKey, ...seeds: readonly (string | Uint8Array)[]): PublicKey => {
  const [address] = PublicKey.findProgramAddressSync(
    seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed)),
    program,
  )
  return address
}

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')

/** Where the loader keeps who may upgrade a program. */
export const programDataOf = (program: PublicKey): PublicKey => accountOf(UPGRADEABLE_LOADER, program.toBytes())
