// The running service's Solana attestations in the Ed25519 and registry programs, with each field changed (threats row 7).
// 1,000 attestations: test/long.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RunningService, startService } from '../service/start-service.ts'
import { createServiceWorld, exerciseSolanaAttestation } from './solana-calls.ts'
import type { SolanaWorld } from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const ATTESTATIONS = 15

describeOnSvm('the service’s attestations on Solana', () => {
  let service: RunningService
  let world: SolanaWorld
  beforeAll(async () => {
    service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
    world = createServiceWorld(service)
  })
  afterAll(async () => {
    await service?.stop()
  })

  test(`${ATTESTATIONS} are each accepted once, and refused with a changed field`, async () => {
    let refused = 0
    for (let n = 0; n < ATTESTATIONS; n++) refused += await exerciseSolanaAttestation(service, world, n)
    expect(refused).toBe(ATTESTATIONS * 21)
  }, 60_000)
})
