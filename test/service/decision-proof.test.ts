// Proofs of decisions that can be verified offline, from the API and from commands, only for their organization.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCountersignClient } from '../../src/client/client.ts'
import { checkDecisionProof } from '../../src/client/decision-proof.ts'
import { RequestRefusedError } from '../../src/client/errors.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { WALLET } from './calls.ts'
import { runCountersign } from './run-to-end.ts'
import { type RunningService, startService } from './start-service.ts'

let service: RunningService
let folder: string
beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '2' } })
  folder = newFolder()
})
afterAll(async () => {
  await service.stop()
})

const command = (...words: string[]) => runCountersign({ COUNTERSIGN_DATA_DIR: service.dataDirectory }, ...words)

test('a decision is proven offline to its organization, and to no other', async () => {
  const own = service.quickstart['ATTESTATION_API_KEY'] as string
  const client = createCountersignClient({ attestationUrl: service.url, attestationApiKey: own })
  const verificationHash = service.quickstart['VERIFICATION_HASH'] as string
  const attest = () => client.attest({ from: WALLET, chain: 'base', verificationHash })
  const [answer] = await Promise.all(Array.from({ length: 20 }, attest))
  if (answer?.isCompliant !== true) throw new Error('the demo policy denies')
  const { uuid, signature } = answer.attestation
  let proof = ''
  await until(async () => {
    try {
      proof = await client.proof(uuid)
      return true
    } catch (error) {
      if (error instanceof RequestRefusedError && (error.status === 404 || error.status === 503)) return false
      throw error
    }
  })
  const { stdout: logKey, code } = await command('proof', 'key')
  expect(code).toBe(0)
  const proven = checkDecisionProof(proof, logKey)
  expect(proven.decision).toMatchObject({ uuid, signatures: [signature] })
  expect(proven.size).toBeGreaterThanOrEqual(21)

  const file = join(folder, 'own.tlog-proof')
  writeFileSync(file, proof)
  const checked = await command('proof', 'check', file, '--key', logKey.trim())
  // Printed line numbers start at 1.
  const place = `"${uuid}" is line ${proven.index + 1} of ${proven.size} in the log`
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining(place)])
  expect(checked.stdout).toEndWith(`\nsignature "${signature}"\n`)
  for (const [path, key, error] of [
    [file, 'no-such-file', '--key must be a verifier key or a readable file\n'],
    [`${file}.none`, logKey.trim(), `${file}.none cannot be read (ENOENT)\n`],
  ] as const) {
    const refused = { code: 2, stderr: expect.stringContaining(error) }
    expect(await command('proof', 'check', path, '--key', key)).toMatchObject(refused)
  }
  expect(JSON.parse((await command('proof', 'key', '--json')).stdout)).toEqual({ log_key: logKey.trim() })
  const published = await command('decisions', 'publish', '--to', `dir:${join(folder, 'published')}`, '--json')
  expect(JSON.parse(published.stdout)).toEqual({ size: expect.any(Number) })
  writeFileSync(file, proof.replace(/index \d+/, 'index 0'))
  const wrong = await command('proof', 'check', file, '--key', logKey.trim())
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('PROBLEM: ')])

  const printed = await command('decisions', 'prove', uuid)
  expect(printed.code).toBe(0)
  expect(checkDecisionProof(printed.stdout, logKey).line).toBe(proven.line)
  const head = join(service.dataDirectory, 'decision-tree.checkpoint')
  const verified = await command('decisions', 'verify', '--checkpoint', head)
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/lines compared.*: ok\n$/)])

  const read = (path: string, key: string | null): Promise<Response> =>
    fetch(`${service.url}/v2/attestations/${path}/proof`, key === null ? {} : { headers: { 'x-api-key': key } })
  expect((await read(uuid, null)).status).toBe(401)
  expect((await read(uuid, service.quickstart['IDENTITY_API_KEY'] as string)).status).toBe(403)
  expect((await read(crypto.randomUUID(), own)).status).toBe(404)
  expect((await read('nonsense', own)).status).toBe(404)
  expect((await command('org', 'create', 'stranger', '--name', 'Stranger')).code).toBe(0)
  const issued = await command(...'keys issue --kind attestation --name x --org stranger'.split(' '))
  const [key = ''] = /csa_live_\w+/.exec(issued.stdout) ?? []
  const refused = await read(uuid, key)
  expect([refused.status, await refused.text()]).toEqual([404, expect.not.stringContaining('line')])
}, 120_000)
