// The storage locations of the contracts (ERC-7201); a wrong constant would only appear as a collision after an upgrade.
import { expect, test } from 'bun:test'
import { encodeAbiParameters, keccak256, toBytes } from 'viem'
import { standardInput } from '../../contracts/build.ts'

/** keccak256(abi.encode(uint256(keccak256(namespace)) - 1)) & ~0xff. */
const slotOf = (namespace: string): string => {
  const inner = BigInt(keccak256(toBytes(namespace))) - 1n
  const slot = BigInt(keccak256(encodeAbiParameters([{ type: 'uint256' }], [inner]))) & ~0xffn
  return `0x${slot.toString(16).padStart(64, '0')}`
}

test('the location of each namespace is derived from its name', () => {
  const found = Object.entries(standardInput().sources)
    .filter(([name]) => name.startsWith('src/'))
    .flatMap(([name, { content }]) => {
      const namespace = /@custom:storage-location erc7201:([\w.]+)/.exec(content)?.[1]
      const slot = /bytes32 private constant \w+_STORAGE = (0x[0-9a-f]{64});/.exec(content)?.[1]
      return namespace === undefined && slot === undefined ? [] : [{ name, namespace, slot }]
    })
  const names = found.map(({ namespace }) => namespace?.replace('countersign.storage.', ''))
  expect(names.sort()).toEqual(['AttesterRegister', 'PolicyClient', 'PolicyRegistry', 'TaskClient', 'TwoStepOwner'])
  for (const { namespace, slot } of found) expect(slot).toBe(slotOf(namespace ?? ''))
})
