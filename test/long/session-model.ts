// `bun test/long/session-model.ts [--steps N] [--seed N]`: compares random operations on sessions with a model of them, over
// SQLite and PostgreSQL, in the same order of a seed. Exit code 1 when a session is not what the model says.
import { parseArgs } from 'node:util'
import { compareWithModel } from '../store/compare-sessions.ts'
import { openOverPostgres, openTemporaryStore } from '../store/temporary-store.ts'
import { answerHelp } from '../support/head-help.ts'
import { createTemporaryDatabase, PATIENT_LIMITS } from '../support/postgres.ts'

answerHelp(import.meta)

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})
const wanted = { steps: Number(values.steps), seed: Number(values.seed) }
const stores = [
  ['SQLite', openTemporaryStore],
  ['PostgreSQL', () => openOverPostgres({ createTemporaryDatabase, PATIENT_LIMITS })],
] as const
for (const [name, open] of stores) {
  const { store, remove } = await open()
  try {
    const counts = await compareWithModel(store, wanted)
    process.stdout.write(`${name}, seed ${wanted.seed}: ${wanted.steps} steps, as the model says\n`)
    for (const [what, count] of [...counts].sort()) process.stdout.write(`  ${what}: ${count}\n`)
  } finally {
    await remove()
  }
}
process.exit(0)
