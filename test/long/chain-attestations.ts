// `bun test/long/chain-attestations.ts [COUNT]`: 1,000 attestations of the running service on a local EVM node, over all
// EVM chains and example contracts. Each change of one field is refused, each attestation is accepted once.
import { exerciseAttestation } from '../chain/guarded-calls.ts'
import { EVM_CHAINS, startServiceOnChain } from '../chain/service-on-chain.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const count = Number(process.argv[2] ?? 1_000)
if (!Number.isSafeInteger(count) || count < 1) throw new Error('COUNT must be a whole number above 0')

const world = await startServiceOnChain()
const startedMs = performance.now()
let mutations = 0
try {
  for (let n = 0; n < count; n++) {
    mutations += await exerciseAttestation(world, n)
    if ((n + 1) % 100 === 0) {
      process.stdout.write(`${n + 1} of ${count} accepted, ${mutations} changed ones refused\n`)
    }
  }
} finally {
  await world.stop()
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
process.stdout.write(
  `${count} attestations on ${EVM_CHAINS.length} chains accepted once, ${mutations} changed or repeated ones refused, ${seconds} s\n`,
)
