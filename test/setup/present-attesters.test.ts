// The attesters of a process that lacks keystores.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AttesterReference } from '../../src/pool/protocol.ts'
import { presentAttesters } from '../../src/setup/attesters.ts'
import { newFolder } from '../support/folder.ts'

test('an attester without its keystore is omitted and named, unless all of its kind are missing', () => {
  const folder = newFolder()
  const attester = (id: string, status: AttesterReference['status'] = 'active'): AttesterReference => ({
    id,
    status,
    kind: 'secp256k1',
    address: `0x${id}`,
    keystorePath: join(folder, `${id}.json`),
  })
  const warned: unknown[] = []
  const log = { warn: (_message: string, fields?: object) => void warned.push(fields) }
  const all = [attester('a'), attester('b'), attester('c', 'retiring')]
  expect(presentAttesters(all, log)).toEqual(all)
  expect(warned).toEqual([])
  writeFileSync(join(folder, 'b.json'), '{}')
  expect(presentAttesters(all, log).map(({ id }) => id)).toEqual(['b', 'c'])
  expect(presentAttesters([...all, { ...attester('d'), kind: 'ed25519' }], log)).toHaveLength(4)
  expect(warned).toEqual([expect.objectContaining({ attester: 'a', keystorePath: join(folder, 'a.json') })])
})
