import { PublicKey } from '@solana/web3.js'
import { decodeKey } from './base58.ts'

export const publicKeyOf = (argument: string, text: string): PublicKey => new PublicKey(decodeKey(argument, text))

export const accountOf = (program: PublicKey, ...seeds: readonly (string | Uint8Array)[]): PublicKey => {
  const [address] = PublicKey.findProgramAddressSync(
    seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed)),
    program,
  )
  return address
}

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')

/** Returns the account with a program's upgrade authority. */
export const programDataOf = (program: PublicKey): PublicKey => accountOf(UPGRADEABLE_LOADER, program.toBytes())
