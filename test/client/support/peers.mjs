// A program that uses the parts of the packed client that need viem and @solana/web3.js. Prints true if both work.
import { verifyEvmAttestation } from '@countersign/client/evm-attestation'
import { verifySolanaAttestation } from '@countersign/client/solana-attestation'
import { solanaAttestationInstructions } from '@countersign/client/solana-instructions'

const { evm, solana, registryProgram } = JSON.parse(process.argv[2])
const evmCall = { ...evm.call, wei: BigInt(evm.call.wei) }
const solanaCall = { ...solana.call, lamports: BigInt(solana.call.lamports) }
const instructions = solanaAttestationInstructions(registryProgram, solanaCall, solana.attestation)
process.stdout.write(
  JSON.stringify(
    (await verifyEvmAttestation(evmCall, evm.attestation)) &&
      verifySolanaAttestation(solanaCall, solana.attestation) &&
      instructions.length === 2 &&
      instructions[1].keys.length === 7,
  ),
)
