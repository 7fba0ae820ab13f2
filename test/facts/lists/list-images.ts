// List images for tests, as published by the main thread.
import { addressKey } from '../../../src/domain/address-key.ts'
import { createAddressSetBuilder } from '../../../src/domain/address-set.ts'
import type { ListImage } from '../../../src/domain/list-image.ts'

export const setOf = (addresses: readonly string[]): SharedArrayBuffer => {
  const keys = addresses.map((address) => addressKey(address)).sort(Buffer.compare)
  const evm = keys.filter((key) => key.length === 20)
  const solana = keys.filter((key) => key.length === 32)
  const builder = createAddressSetBuilder(evm.length, solana.length)
  builder.append(20, Buffer.concat(evm))
  builder.append(32, Buffer.concat(solana))
  return builder.finish()
}

export const listImage = (addresses: readonly string[], overrides: Partial<ListImage> = {}): ListImage => ({
  id: 'list_1',
  organizationId: 'org_1',
  name: 'deny',
  entries: setOf(addresses),
  added: null,
  removed: null,
  keptBy: 'people',
  confirmedAtSeconds: null,
  current: true,
  ...overrides,
})
