// Passwords that were leaked elsewhere are refused, whatever the rules about words think of them.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isBreachedPassword, refuseCommonPassword } from '../../../src/admin/accounts/password-rules.ts'

// From the list, where the rules alone would take them.
const LEAKED = ['chickenwing101', 'contortionist', 'finalfantasy', 'ghbdtnrfrltkf', 'justinbieber', 'sonyericsson']

test('leaked passwords are refused in any case', () => {
  for (const password of LEAKED) {
    for (const spelling of [
      password,
      password.toUpperCase(),
      `${password.charAt(0).toUpperCase()}${password.slice(1)}`,
    ]) {
      expect(() => refuseCommonPassword(spelling, []), spelling).toThrow('password breaches')
    }
  }
})

test('others are taken', () => {
  for (const password of ['lamp orbit cedar fjord', 'chickenwing101-lamp', 'Zr7!mQ2#vT9k']) {
    expect(isBreachedPassword(password)).toBe(false)
    refuseCommonPassword(password, [])
  }
  const random = Array.from({ length: 5_000 }, (_, at) => createHash('sha256').update(`${at}`).digest('base64url'))
  // One in a hundred thousand is mistaken for a leaked one.
  expect(random.filter(isBreachedPassword).length).toBeLessThanOrEqual(1)
})

test('the list has more than the three thousand that the standard asks for, in order and once each', () => {
  const bytes = readFileSync(join(import.meta.dir, '../../../src/admin/accounts/breached-passwords.bin'))
  const numbers = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32BE(at * 4))
  expect(numbers.length).toBeGreaterThan(40_000)
  expect(numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))).toBe(true)
})
