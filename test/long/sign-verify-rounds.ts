// A million rounds of encode, sign and verify over every backend of this machine: too long for the suite.
//   bun test/long/sign-verify-rounds.ts [--rounds 1000000] [--seed text]
// Prints progress; ends with 0 when every round agreed and with 1 at the first that did not, naming its statement.
import { parseArgs } from 'node:util'
import { runRounds } from '../signing/rounds.ts'
import { backendCandidates } from '../signing/test-keys.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const DEFAULT_ROUNDS = 1_000_000
/** Noble signs and recovers one round in so many: it takes as long as all the rest of ten rounds. */
const NOBLE_EVERY = 100

const readOptions = (): { rounds: number; seed: string } => {
  const { values } = parseArgs({ options: { rounds: { type: 'string' }, seed: { type: 'string' } } })
  const rounds = values.rounds === undefined ? DEFAULT_ROUNDS : Number(values.rounds)
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error('--rounds is not a positive integer')
  return { rounds, seed: values.seed ?? String(Date.now()) }
}

const main = async (): Promise<void> => {
  const { rounds, seed } = readOptions()
  const candidates = backendCandidates()
  for (const { label, reason } of candidates.filter(({ backend }) => backend === null)) {
    console.log(`skipped ${label}: ${reason}`)
  }
  const available = candidates.flatMap(({ backend }) => backend ?? [])
  const natives = available.filter(({ name }) => name !== 'noble')
  const backends = natives.length > 0 ? natives : available
  console.log(
    `${rounds} rounds, seed ${seed}, every round: ${backends.map(({ description }) => description).join(', ')} and Ed25519`,
  )
  console.log(`one in ${NOBLE_EVERY} also by @noble/curves and @noble/ed25519`)
  const startedMs = performance.now()
  const step = Math.max(1, Math.floor(rounds / 20))
  const progress = (done: number): void => {
    if (done % step !== 0 && done !== rounds) return
    const microseconds = ((performance.now() - startedMs) * 1_000) / done
    console.log(`${done} rounds agree, ${microseconds.toFixed(0)} µs each`)
  }
  await runRounds({ backends, rounds, seed, nobleEvery: NOBLE_EVERY, progress })
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
