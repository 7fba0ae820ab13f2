// `bun test/long/solana-attestations.ts [COUNT]`: 1,000 Solana attestations of the running service in the Ed25519 program and
// the registry program. Each change of one field is refused, each attestation is accepted once.
import { createServiceWorld, exerciseSolanaAttestation } from '../chain/solana-calls.ts'
import { startService } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const count = Number(process.argv[2] ?? 1_000)
if (!Number.isSafeInteger(count) || count < 1) throw new Error('COUNT must be a whole number above 0')

const service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
const world = createServiceWorld(service)
const startedMs = performance.now()
let refused = 0
try {
  for (let n = 0; n < count; n++) {
    refused += await exerciseSolanaAttestation(service, world, n)
    if ((n + 1) % 100 === 0) process.stdout.write(`${n + 1} of ${count} accepted, ${refused} changed ones refused\n`)
  }
} finally {
  await service.stop()
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
process.stdout.write(`${count} attestations accepted once, ${refused} changed or repeated ones refused, ${seconds} s\n`)
