// A Solana transaction with an attestation: the Ed25519 program checks the signature, the registry program checks the
// attested call, and the guarded program's instruction follows. Uses an attestation of the running service, and
// simulates the transaction in a virtual machine within this process (litesvm). Sends nothing to a cluster.
//
//   set -a; . ./data/quickstart.env; set +a
//   bun docs/examples/solana-transaction.ts
//
// By default, the virtual machine has no registry and checks only the signature and the transfer. To run the whole
// transaction, set the program files that `solana program dump ADDRESS FILE` writes:
//   REGISTRY_PROGRAM_FILE GUARDED_PROGRAM_FILE
import { createCountersignClient } from '@countersign/client'
import { solanaAttestedCall, verifySolanaAttestation } from '@countersign/client/solana-attestation'
import { solanaAttestationInstructions } from '@countersign/client/solana-instructions'
import {
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'

const setting = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

const client = createCountersignClient({
  attestationUrl: setting('ATTESTATION_URL'),
  attestationApiKey: setting('ATTESTATION_API_KEY'),
})
/** The public registry. Set another address if your deployment registers its attesters elsewhere. */
const registryProgram = process.env['REGISTRY_PROGRAM'] ?? 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
const guardedProgram = setting('DEMO_PROGRAM')
/** Lamports that the user moves in the guarded call. */
const LAMPORTS = 5_000_000
const user = Keypair.generate()
const receiver = Keypair.generate().publicKey

// The attestation is valid for one call: this wallet, program, amount and instruction data, once.
const instructionData = Buffer.from([7, 0, 0, 0])
const request = {
  chain: 'solana',
  from: user.publicKey.toBase58(),
  to: guardedProgram,
  data: `0x${instructionData.toString('hex')}`,
  msgValue: BigInt(LAMPORTS),
}
const answer = await client.attest(request)
if (!answer.isCompliant) throw new Error(`denied: ${answer.reason?.message}`)
const call = solanaAttestedCall(request, answer)
console.log(`attested by ${answer.attestation.attester}: ${verifySolanaAttestation(call, answer.attestation)}`)

// The first two instructions must be adjacent.
const [signatureCheck, validation] = solanaAttestationInstructions(registryProgram, call, answer.attestation)
const transfer = SystemProgram.transfer({ fromPubkey: user.publicKey, toPubkey: receiver, lamports: LAMPORTS })
const guarded = new TransactionInstruction({
  programId: new PublicKey(guardedProgram),
  keys: [{ pubkey: user.publicKey, isSigner: true, isWritable: true }],
  data: instructionData,
})

const machine = new LiteSVM()
machine.airdrop(user.publicKey, BigInt(LAMPORTS_PER_SOL))
const simulate = (what: string, ...instructions: TransactionInstruction[]): void => {
  const transaction = new Transaction({ feePayer: user.publicKey, recentBlockhash: machine.latestBlockhash() })
  transaction.add(...instructions).sign(user)
  const outcome = machine.simulateTransaction(transaction)
  const verdict = outcome instanceof FailedTransactionMetadata ? `refused: ${outcome.err().toString()}` : 'accepted'
  console.log(`${what}, ${transaction.serialize().length} bytes: ${verdict}`)
}

const registryFile = process.env['REGISTRY_PROGRAM_FILE']
const guardedFile = process.env['GUARDED_PROGRAM_FILE']
if (registryFile === undefined || guardedFile === undefined) {
  simulate('signature check and transfer', signatureCheck, transfer)
} else {
  machine.addProgramFromFile(new PublicKey(registryProgram), registryFile)
  machine.addProgramFromFile(new PublicKey(guardedProgram), guardedFile)
  simulate('signature check, validation, transfer and guarded call', signatureCheck, validation, transfer, guarded)
}
const forged = { ...answer.attestation, expiration: answer.attestation.expiration + 1 }
const [forgedCheck] = solanaAttestationInstructions(registryProgram, call, forged)
simulate('signature check of a later expiration', forgedCheck, transfer)
