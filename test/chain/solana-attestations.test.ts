// The running service's Solana attestations pass the Ed25519 program and the registry program through the client's
// instructions, once, and none with a changed field does (threats row 7). The same over 1,000 attestations: test/long.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RunningService, startService } from '../service/start-service.ts'
import { createServiceWorld, exerciseSolanaAttestation } from './solana-calls.ts'
import type { SolanaWorld } from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const ATTESTATIONS = 15
const REFUSED_EACH = 21

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

  test(`${ATTESTATIONS} of them: accepted once, and no field can be changed`, async () => {
    let refused = 0
    for (let n = 0; n < ATTESTATIONS; n++) refused += await exerciseSolanaAttestation(service, world, n)
    expect(refused).toBe(ATTESTATIONS * REFUSED_EACH)
  }, 60_000)
})
