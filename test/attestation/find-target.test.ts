// The target of a contract: its binding, or the project on its chain; synchronous if both are cached.
import { expect, test } from 'bun:test'
import { findTarget } from '../../src/attestation/find-target.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'
import { PolicyMissingError } from '../../src/domain/errors.ts'
import type { PolicyRegistries } from '../../src/facts/policy-registries.ts'
import type { Catalog } from '../../src/policy/catalog.ts'

const bound = { id: 'bound' } as never
const named = { id: 'named' } as never

type Policy = ReturnType<PolicyRegistries['policyIdOf']>

const setUp = (binding: unknown, policyId: Policy, project: unknown = named) => {
  const queries: string[] = []
  const catalog = {
    resolveBinding: () => binding,
    resolveProject: (organizationId: string, verificationHash: string) => {
      queries.push(`${organizationId} ${verificationHash}`)
      return project
    },
  } as unknown as Catalog
  const registries: PolicyRegistries = {
    policyIdOf: (organizationId, chainName, address) => {
      queries.push(`${organizationId} ${chainName} ${address}`)
      return policyId
    },
  }
  const request = { chain: { name: 'base' }, to: '0xaa' } as DecodedRequest['request']
  const decoded: DecodedRequest = { request, targetBy: 'address', targetText: '0xAA', missing: [] }
  return { queries, resolve: () => findTarget({ catalog, registries }, decoded, 'org') }
}

test('a binding is used without a query to the chain', async () => {
  const { queries, resolve } = setUp(bound, 'x-1')
  expect(resolve()).toBe(bound)
  expect(await setUp(Promise.resolve(bound), 'x-1').resolve()).toBe(bound)
  expect(queries).toEqual([])
})

test('without a binding, the project comes from the chain and must belong to the caller', async () => {
  const { queries, resolve } = setUp(null, 'x-1')
  expect(resolve()).toBe(named)
  expect(queries).toEqual(['org base 0xaa', 'org x-1'])
  expect(await setUp(Promise.resolve(null), Promise.resolve('x-1'), Promise.resolve(named)).resolve()).toBe(named)
  expect(setUp(null, 'x-1', null).resolve).toThrow(PolicyMissingError)
})

test('a chain without a policy yields no target, and a failing chain yields an error', async () => {
  expect(setUp(null, null).resolve).toThrow(PolicyMissingError)
  expect(setUp(Promise.resolve(null), null).resolve()).rejects.toThrow(PolicyMissingError)
  const down = new Error('down')
  expect(Promise.resolve(setUp(null, Promise.reject(down)).resolve())).rejects.toBe(down)
})
