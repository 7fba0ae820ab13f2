// `bun test/long/rounds.ts NAME [COUNT] [SEED]`: repeats a random check of the suite many times. Exit code 1 if a round fails.
//   signatures  encode, sign and verify with each signing backend of this machine (1,000,000)
//   policies    expressions, compared with another CEL implementation (100,000)
//   sessions    operations on sessions, compared with a model, with SQLite and PostgreSQL (20,000)
//   kills       kill -9 during identity traffic (100)
//   evm         attestations on a local EVM node; each changed field is refused (1,000)
//   solana      attestations in a Solana VM; each changed field is refused (1,000)
import { answerHelp, headOf } from '../support/head-help.ts'

answerHelp(import.meta)

/** Number of rounds per signature with noble, which is ten times slower than the other backends. */
const NOBLE_EVERY = 100
const POLICIES_AT_ONCE = 5_000

interface Rounds {
  readonly count: number
  readonly seed: number
  readonly progress: (done: number) => void
}

const CHECKS: Readonly<Record<string, readonly [count: number, check: (rounds: Rounds) => Promise<unknown>]>> = {
  signatures: [
    1_000_000,
    async ({ count, seed, progress }) => {
      const { runRounds } = await import('../signing/rounds.ts')
      const { backendCandidates } = await import('../signing/test-keys.ts')
      const available = backendCandidates().flatMap(({ backend }) => backend ?? [])
      const natives = available.filter(({ name }) => name !== 'noble')
      const backends = natives.length > 0 ? natives : available
      await runRounds({ backends, rounds: count, seed: String(seed), nobleEvery: NOBLE_EVERY, progress })
    },
  ],
  policies: [
    100_000,
    async ({ count, seed, progress }) => {
      const { default: fc } = await import('fast-check')
      const { expressions, ours, requests, theirs } = await import('../policy/differential.ts')
      for (let compared = 0, batch = 0; compared < count; batch++) {
        const options = { numRuns: POLICIES_AT_ONCE, seed: seed + batch }
        for (const [expression, request] of fc.sample(fc.tuple(expressions, requests), options)) {
          const outcome = ours(expression, request)
          // The expression is too large for a policy.
          if (outcome === null || compared === count) continue
          const expected = theirs(expression, request)
          if (expected !== outcome)
            throw new Error(`${expression}: ${outcome} and ${expected}, ${JSON.stringify(request)}`)
          progress(++compared)
        }
      }
    },
  ],
  sessions: [
    20_000,
    async ({ count, seed, progress }) => {
      const { compareWithModel } = await import('../store/compare-sessions.ts')
      const { openOverPostgres, openTemporaryStore } = await import('../store/temporary-store.ts')
      const postgres = await import('../support/postgres.ts')
      for (const open of [openTemporaryStore, () => openOverPostgres(postgres)]) {
        const { store, remove } = await open()
        await compareWithModel(store, { steps: count, seed }).finally(remove)
        progress(count)
      }
    },
  ],
  kills: [
    100,
    async ({ count, progress }) => (await import('../identity/kill-rounds.ts')).runKillRounds(count, progress),
  ],
  evm: [
    1_000,
    async ({ count, progress }) => {
      const { exerciseAttestation } = await import('../chain/guarded-calls.ts')
      const { startServiceOnChain } = await import('../chain/service-on-chain.ts')
      const world = await startServiceOnChain()
      try {
        for (let n = 0; n < count; progress(++n)) await exerciseAttestation(world, n)
      } finally {
        await world.stop()
      }
    },
  ],
  solana: [
    1_000,
    async ({ count, progress }) => {
      const { createServiceWorld, exerciseSolanaAttestation } = await import('../chain/solana-calls.ts')
      const { startService } = await import('../service/start-service.ts')
      const service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
      const world = createServiceWorld(service)
      try {
        for (let n = 0; n < count; progress(++n)) await exerciseSolanaAttestation(service, world, n)
      } finally {
        await service.stop()
      }
    },
  ],
}

const [name = '', countText, seedText] = process.argv.slice(2)
const [usualCount, check] = CHECKS[name] ?? []
const count = Number(countText ?? usualCount)
const seed = Number(seedText ?? Date.now() % 2 ** 31)
if (check === undefined || !Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  process.stderr.write(headOf(await Bun.file(import.meta.path).text()))
  process.exit(2)
}
const step = Math.ceil(count / 20)
process.stdout.write(`${count} rounds of ${name}, seed ${seed}\n`)
await check({
  count,
  seed,
  progress: (done) => {
    if (done % step === 0 || done === count) process.stdout.write(`${done} rounds agree\n`)
  },
})
process.exit(0)
