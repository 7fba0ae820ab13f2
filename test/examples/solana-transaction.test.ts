// docs/examples/solana-transaction.ts with the running service: the signature check in the real Ed25519 program, and
// the whole transaction with stubs for the registry and the guarded program.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acceptingProgram } from '../chain/accepting-program.ts'
import { describeOnSvm } from '../chain/svm.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import { environmentOf, runExample } from './support.ts'

/** Maximum size of a Solana transaction. */
const PACKET_BYTES = 1_232

describeOnSvm('docs/examples/solana-transaction.ts', () => {
  let service: RunningService
  let folder: string
  beforeAll(async () => {
    folder = newFolder()
    service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  })
  afterAll(async () => {
    await service?.stop()
  })

  const attested = () => `attested by ${service.quickstart['SOLANA_ATTESTER']}: true`
  const refused = /^signature check of a later expiration, [0-9]+ bytes: refused: .*InstructionError/

  test('passes the signature check, and fails it with a forged signature', async () => {
    const lines = (await runExample('solana-transaction.ts', environmentOf(service))).trim().split('\n')
    expect(lines[0]).toBe(attested())
    expect(lines[1]).toMatch(/^signature check and transfer, [0-9]+ bytes: accepted$/)
    expect(lines[2]).toMatch(refused)
    expect(lines).toHaveLength(3)
  })

  test('runs completely and fits into a packet', async () => {
    const file = join(folder, 'accepting.so')
    writeFileSync(file, acceptingProgram())
    const environment = { ...environmentOf(service), REGISTRY_PROGRAM_FILE: file, GUARDED_PROGRAM_FILE: file }
    const lines = (await runExample('solana-transaction.ts', environment)).trim().split('\n')
    const whole = /^signature check, validation, transfer and guarded call, ([0-9]+) bytes: accepted$/.exec(
      lines[1] ?? '',
    )
    expect(whole).not.toBeNull()
    expect(Number(whole?.[1])).toBeLessThanOrEqual(PACKET_BYTES)
    expect(lines[2]).toMatch(refused)
  })
})
