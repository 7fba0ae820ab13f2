// Sets up a Solana registry program over any RPC URL: creates the registry, registers attesters and sets policies.
// Keeps existing accounts, so it can be run again.
//
//   RPC_URL=… REGISTRY_PROGRAM=… AUTHORITY_KEYPAIR=~/.config/solana/id.json \
//     bun docs/examples/solana-registry.ts attesters ATTESTER…
//     bun docs/examples/solana-registry.ts policy PROGRAM VERIFICATION_HASH
//
// AUTHORITY_KEYPAIR is a key file of the Solana CLI: the upgrade authority of the registry program or, for a policy, of
// the guarded program. It pays the fees.
import { readFileSync } from 'node:fs'
import {
  initializeRegistryInstruction,
  registerAttesterInstruction,
  setPolicyInstruction,
  updatePolicyInstruction,
} from '@countersign/client/solana-registry'
import { Connection, Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'

const setting = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

const connection = new Connection(setting('RPC_URL'), 'confirmed')
const registryProgram = setting('REGISTRY_PROGRAM')
const secret = JSON.parse(readFileSync(setting('AUTHORITY_KEYPAIR'), 'utf8')) as number[]
const signer = Keypair.fromSecretKey(Uint8Array.from(secret))
const authority = signer.publicKey.toBase58()

const exists = async (...seeds: (string | PublicKey)[]): Promise<boolean> => {
  const bytes = seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed.toBytes()))
  const [address] = PublicKey.findProgramAddressSync(bytes, new PublicKey(registryProgram))
  const account = await connection.getAccountInfo(address)
  return account?.owner.toBase58() === registryProgram
}

/** Sends one transaction and waits until the cluster confirms it. */
const send = async (what: string, instruction: TransactionInstruction): Promise<void> => {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
  const transaction = new Transaction({ feePayer: signer.publicKey, blockhash, lastValidBlockHeight })
  transaction.add(instruction).sign(signer)
  const signature = await connection.sendRawTransaction(transaction.serialize())
  for (;;) {
    const { value } = await connection.getSignatureStatuses([signature])
    if (value[0]?.err) throw new Error(`${what} failed: ${JSON.stringify(value[0].err)}`)
    if (value[0] !== null && value[0]?.confirmationStatus !== 'processed') break
    if ((await connection.getBlockHeight()) > lastValidBlockHeight)
      throw new Error(`${what}: not in any block, try again`)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  console.log(`${what}: ${signature}`)
}

const [verb, ...words] = process.argv.slice(2)
if (verb === 'attesters') {
  if (await exists('predicate_registry')) console.log('the registry is there')
  else await send('registry made', initializeRegistryInstruction(registryProgram, authority))
  for (const attester of words) {
    if (await exists('attester', new PublicKey(attester))) console.log(`attester ${attester} is registered`)
    else await send(`attester ${attester}`, registerAttesterInstruction(registryProgram, authority, attester))
  }
} else if (verb === 'policy' && words.length === 2) {
  const [target = '', policy = ''] = words
  const isSet = await exists('policy', new PublicKey(target))
  const build = isSet ? updatePolicyInstruction : setPolicyInstruction
  await send(`policy of ${target}`, build(registryProgram, { target, authority }, policy))
} else throw new Error('say attesters ATTESTER… or policy PROGRAM VERIFICATION_HASH')
