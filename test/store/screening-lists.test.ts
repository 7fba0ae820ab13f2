// Versions of a list of sanctioned people.
import { expect, test } from 'bun:test'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'

describeStores((open) => {
  const temporary = storeOfTest(open)

  test('a repeated version of a sanctions list is confirmed', async () => {
    const { screeningLists } = temporary.store
    await screeningLists.set({ name: 'ours', format: 'csv', urls: [], reach: 'public', intervalSeconds: 3_600 })
    const version = { bytes: new Uint8Array(3), sha256: 'ab', entries: 1, names: 1 }
    const replace = () =>
      screeningLists.replace('ours', version, { token: null, validators: {}, nextDueAtSeconds: 9e9 })
    expect([await replace(), await replace()]).toEqual(['loaded', 'confirmed'])
  })
})
