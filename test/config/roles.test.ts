// The setting `serve`: the roles of a process.
import { describe, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config/config.ts'

const rolesOf = (...words: string[]): string[] => [...loadConfig({ arguments: words, environment: {} }).serve]

describe('a process serves', () => {
  test('all roles by default', () => {
    const all = ['attestation', 'identity', 'portal', 'dashboard']
    expect(rolesOf()).toEqual(all)
    expect(rolesOf('--serve', 'all')).toEqual(all)
  })

  test('the named roles', () => {
    expect(rolesOf('--serve', 'attestation')).toEqual(['attestation'])
    expect(rolesOf('--serve', 'portal, identity')).toEqual(['identity', 'portal'])
  })

  test('no unknown, repeated or missing role', () => {
    for (const text of ['', 'attestations', 'identity,attester', 'portal,portal', 'all,portal']) {
      expect(() => rolesOf(`--serve=${text}`)).toThrow('attestation, identity, portal, dashboard')
    }
  })
})
