// The part of the product that a test file checks.
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isOfPart, MODULE_LISTS, PARTS } from './parts.ts'

const ROOT = join(import.meta.dir, '..', '..')

test.each([
  ['test/conformance/attestation-v2.test.ts', ['core']],
  // Its folder has the name of the module.
  ['test/documents/zone.test.ts', ['documents']],
  // It imports from both modules.
  ['test/screening/name-checks.test.ts', ['screening', 'documents']],
  // Its support code imports from the module.
  ['test/hardware-keys/token.test.ts', ['hardware-keys']],
  // The lists of modules do not count.
  ['test/service/without-modules.test.ts', ['core']],
])('%s checks %p', (path, parts) => {
  expect(existsSync(join(ROOT, path))).toBe(true)
  expect(PARTS.filter((part) => isOfPart(path, part)).sort()).toEqual([...parts].sort())
})

test('every list of modules exists', () => {
  expect(Object.keys(MODULE_LISTS).filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
