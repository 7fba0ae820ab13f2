// Where the target of a contract comes from: the binding here first, then its chain, without waiting where all is at hand.
import { expect, test } from 'bun:test'
import { findTarget } from '../../src/attestation/find-target.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'
import { PolicyMissingError } from '../../src/domain/errors.ts'
import type { PolicyRegistries } from '../../src/facts/policy-registries.ts'
import type { Catalog } from '../../src/policy/catalog.ts'

const bound = { id: 'bound' } as never
const named = { id: 'named' } as never

type Policy = ReturnType<PolicyRegistries['policyIdOf']>

const setup = (binding: unknown, policyId: Policy, project: unknown = named) => {
  const asked: string[] = []
  const catalog = {
    resolveBinding: () => binding,
    resolveProject: (organizationId: string, verificationHash: string) => {
      asked.push(`${organizationId} ${verificationHash}`)
      return project
    },
  } as unknown as Catalog
  const registries: PolicyRegistries = {
    policyIdOf: (organizationId, chainName, address) => {
      asked.push(`${organizationId} ${chainName} ${address}`)
      return policyId
    },
  }
  const request = { chain: { name: 'base' }, to: '0xaa' } as DecodedRequest['request']
  const decoded: DecodedRequest = { request, targetBy: 'address', targetText: '0xAA', missing: [] }
  return { asked, resolve: () => findTarget({ catalog, registries }, decoded, 'org') }
}

test('a binding here is all there is to it, and at hand where it was', async () => {
  const { asked, resolve } = setup(bound, 'x-1')
  expect(resolve()).toBe(bound)
  expect(await setup(Promise.resolve(bound), 'x-1').resolve()).toBe(bound)
  expect(asked).toEqual([])
})

test('without one, the chain names the project, which has to be the caller’s', async () => {
  const { asked, resolve } = setup(null, 'x-1')
  expect(resolve()).toBe(named)
  expect(asked).toEqual(['org base 0xaa', 'org x-1'])
  expect(await setup(Promise.resolve(null), Promise.resolve('x-1'), Promise.resolve(named)).resolve()).toBe(named)
  expect(setup(null, 'x-1', null).resolve).toThrow(PolicyMissingError)
})

test('where the chain names none there is none, and where it can not be asked that is an error', async () => {
  expect(setup(null, null).resolve).toThrow(PolicyMissingError)
  expect(setup(Promise.resolve(null), null).resolve()).rejects.toThrow(PolicyMissingError)
  const down = new Error('down')
  expect(await Promise.resolve(setup(null, Promise.reject(down)).resolve()).catch((error: unknown) => error)).toBe(down)
})
