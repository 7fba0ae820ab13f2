// `countersign geo`: lookups, the status of the file, and its failures.
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deploymentAt, runWords } from '../cli/run-words.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { temporaryFolder } from '../store/temporary-store.ts'
import { writeMmdb } from './mmdb-writer.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

const path = join(folder.path, 'city.mmdb')
writeFileSync(
  path,
  writeMmdb({
    databaseType: 'Test-City',
    ipVersion: 6,
    buildEpoch: 1_700_000_000 - 7_200,
    networks: [['203.0.113.0/24', { country: { iso_code: 'US' }, subdivisions: [{ iso_code: 'NY' }] }]],
  }),
)

const clock = createManualClock()
const run = (geoipFile: string, ...words: string[]) => {
  const deployment = deploymentAt(folder.path, clock)
  return runWords(['geo', ...words], {
    clock,
    open: () => Promise.reject(new Error('not reached')),
    deployment: { config: { ...deployment.config, geoipFile } },
  })
}

describe('countersign geo', () => {
  test('looks up an address, including an IPv4-mapped address', async () => {
    const shown = { ip: '203.0.113.5', country: 'US', region: 'US-NY', anonymous: null }
    expect(JSON.parse((await run(path, 'lookup', '203.0.113.5', '--json')).stdout)).toMatchObject(shown)
    expect((await run(path, 'lookup', '::ffff:203.0.113.5')).stdout).toContain('US-NY')
    expect((await run('', 'lookup', '2001:db8::1', '--geoip-file', path)).stdout).toContain('unknown')
  })

  test('shows the file and its age', async () => {
    expect((await run(path, 'status')).stdout).toContain('2 h')
    const shown = { file: path, databaseType: 'Test-City', ageSeconds: 7_200 }
    expect(JSON.parse((await run(path, 'status', '--json')).stdout)).toMatchObject(shown)
    expect(await run('', 'status')).toMatchObject({ code: 0 })
  })

  test('reports a missing file, a damaged file and an invalid address', async () => {
    expect(await run('', 'lookup', '1.1.1.1')).toMatchObject({ code: 1 })
    expect((await run(join(folder.path, 'none.mmdb'), 'status')).stderr).toContain('cannot be read: ENOENT')
    const damaged = join(folder.path, 'damaged.mmdb')
    writeFileSync(damaged, 'no database')
    expect((await run(damaged, 'lookup', '1.1.1.1')).stderr).toContain('the file is not an MMDB file, or is damaged')
    expect((await run(path, 'lookup', 'nonsense')).code).toBe(2)
  })
})
