// `bun test/long/solana-attestations.ts [COUNT]`: 1,000 Solana attestations of the running service in the Ed25519 program.
// Each change of one field is refused, each attestation is accepted.
import { exerciseSolanaAttestation } from '../chain/solana-calls.ts'
import { startLocalSvm } from '../chain/svm.ts'
import { startService } from '../service/start-service.ts'

const count = Number(process.argv[2] ?? 1_000)
if (!Number.isSafeInteger(count) || count < 1) throw new Error('COUNT must be a whole number above 0')

const svm = startLocalSvm()
const service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
const startedMs = performance.now()
let refused = 0
try {
  for (let n = 0; n < count; n++) {
    refused += await exerciseSolanaAttestation(service, svm, n)
    if ((n + 1) % 100 === 0) process.stdout.write(`${n + 1} of ${count} accepted, ${refused} changed ones refused\n`)
  }
} finally {
  await service.stop()
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
process.stdout.write(`${count} attestations accepted, ${refused} changed ones refused, ${seconds} s\n`)
