// The settings of witnesses: keys, addresses, and the number of required cosignatures.
import { describe, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config/config.ts'
import { SettingInvalidError } from '../../src/config/settings.ts'
import { transparency } from '../../src/modules/transparency/module.ts'
import { witnessSettingsOf } from '../../src/modules/transparency/settings.ts'
import { encodeVerifierKey, verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'

const keyOf = (name: string, type: 'cosignature' | 'ed25519' = 'cosignature'): string =>
  encodeVerifierKey(verifierKeyOf(name, type, Buffer.alloc(32, 7)))
const load = (witnesses: string, required?: string) => {
  const more = required === undefined ? {} : { COUNTERSIGN_WITNESSES_REQUIRED: required }
  const environment = { COUNTERSIGN_WITNESSES: witnesses, ...more }
  return witnessSettingsOf(loadConfig({ arguments: [], environment }, [transparency]))
}

test('witnesses have keys and URLs, and one cosignature is required by default', () => {
  const settings = load(
    `${keyOf('one.example/1')} https://one.example/w/, ${keyOf('two.example')}  http://127.0.0.1:9090`,
  )
  expect(settings.witnesses.map(({ key, url }) => [key.name, url])).toEqual([
    ['one.example/1', 'https://one.example/w'],
    ['two.example', 'http://127.0.0.1:9090'],
  ])
  expect([settings.required, settings.withinSeconds]).toEqual([1, 60])
  expect(load('').witnesses).toEqual([])
  expect(load(`${keyOf('one.example')} https://one.example`, '1').required).toBe(1)
})

describe('the settings are refused with', () => {
  const one = `${keyOf('one.example')} https://one.example`
  test.each([
    ['a key without an address', keyOf('one.example'), undefined, 'KEY URL'],
    ['an unencrypted address', `${keyOf('one.example')} http://one.example`, undefined, 'https URL'],
    ['the key of a log', `${keyOf('one.example', 'ed25519')} https://one.example`, undefined, 'witness keys'],
    ['an invalid key', 'one.example+x https://one.example', undefined, 'log key must have the form'],
    ['a witness twice', `${one},${one}`, undefined, 'each only once'],
    ['more cosignatures than witnesses', one, '2', 'witnesses-required is 2, but witnesses contains 1'],
  ] as const)('%s', (_what, witnesses, required, reason) => {
    expect(() => load(witnesses, required)).toThrow(SettingInvalidError)
    expect(() => load(witnesses, required)).toThrow(reason)
  })
})
