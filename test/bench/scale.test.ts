// The large deployment of the scale benchmark.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { FULL } from '../../bench/parts/scale.ts'
import { CHAIN, fillOrganizations } from '../../bench/scale/fill.ts'
import { parseApiKey } from '../../src/domain/api-key.ts'
import { systemClock } from '../../src/lib/time.ts'
import { openStore } from '../../src/store/store.ts'
import { newFolder } from '../support/folder.ts'

test('has 10,000 policies and 100,000 keys, and each contract has a key of its organization', async () => {
  expect(FULL.organizations * FULL.policiesEach).toBe(10_000)
  expect(FULL.organizations * FULL.keysEach).toBe(100_000)
  const dataDirectory = newFolder()
  const store = await openStore({ path: join(dataDirectory, 'countersign.db'), clock: systemClock })
  try {
    await store.organizations.create({ slug: 'demo', name: 'demo' })
    const { contracts, keys } = await fillOrganizations({ dataDirectory }, { ...FULL, organizations: 2 })
    expect(new Set(contracts).size).toBe(2 * FULL.policiesEach)
    expect(new Set(keys).size).toBe(contracts.length)
    for (const index of [0, FULL.policiesEach - 1, FULL.policiesEach]) {
      const keyId = parseApiKey(keys[index] ?? '')?.keyId ?? ''
      const organization = await store.organizations.find(`scale-${Math.floor(index / FULL.policiesEach)}`)
      expect(await store.apiKeys.find(organization?.id ?? '', keyId)).toMatchObject({ keyId })
      const contract = contracts[index] ?? ''
      expect(await store.bindings.findByAddress(organization?.id ?? '', CHAIN, contract)).not.toBeNull()
    }
  } finally {
    await store.close()
  }
}, 60_000)
