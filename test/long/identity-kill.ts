// A hundred rounds of kill -9 amid identity traffic: too long for the suite.
//   bun test/long/identity-kill.ts [--rounds 100]
// Ends with 0 when everything acknowledged was there each time, once; with 1 at the first that was not.
import { parseArgs } from 'node:util'
import { runKillRounds } from '../identity/kill-rounds.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const { values } = parseArgs({ options: { rounds: { type: 'string' } } })
const rounds = values.rounds === undefined ? 100 : Number(values.rounds)
if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error('--rounds is not a positive integer')

try {
  const changes = await runKillRounds(rounds, (round, acknowledged) => {
    console.log(`round ${round}: ${acknowledged} acknowledged changes are there`)
  })
  console.log(`${rounds} rounds, ${changes} acknowledged changes: none lost, none twice`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
