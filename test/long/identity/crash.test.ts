// kill -9 of a process with registrations and session changes in flight.
import { expect, test } from 'bun:test'
import { runKillRounds } from '../../identity/kill-rounds.ts'

test('kill -9 neither loses nor duplicates acknowledged changes', async () => {
  const rounds: number[] = []
  const changes = await runKillRounds(2, (round) => rounds.push(round))
  expect(rounds).toEqual([1, 2])
  expect(changes).toBeGreaterThanOrEqual(40)
}, 30_000)
