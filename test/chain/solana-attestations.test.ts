// The running service's Solana attestations pass the Ed25519 program through the client's instruction, and none with a
// changed field does (threats row 7). The same over 1,000 attestations: test/long.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RunningService, startService } from '../service/start-service.ts'
import { exerciseSolanaAttestation } from './solana-calls.ts'
import { describeOnSvm, type LocalSvm, startLocalSvm } from './svm.ts'

const ATTESTATIONS = 50

describeOnSvm('the service’s attestations in the Ed25519 program', () => {
  let service: RunningService
  let svm: LocalSvm
  beforeAll(async () => {
    svm = startLocalSvm()
    service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  })
  afterAll(async () => {
    await service?.stop()
  })

  test(`${ATTESTATIONS} of them: accepted, and no field can be changed`, async () => {
    let refused = 0
    for (let n = 0; n < ATTESTATIONS; n++) refused += await exerciseSolanaAttestation(service, svm, n)
    expect(refused).toBe(ATTESTATIONS * 10)
  }, 60_000)
})
