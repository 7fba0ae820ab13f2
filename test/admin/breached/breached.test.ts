// Passwords that were leaked elsewhere, which are refused even if they comply with the other rules.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isBreachedPassword, refuseCommonPassword } from '../../../src/admin/accounts/password-rules.ts'

// Passwords of the list that comply with the other rules.
const LEAKED = ['chickenwing101', 'contortionist', 'finalfantasy', 'ghbdtnrfrltkf', 'justinbieber', 'sonyericsson']

test('leaked passwords are refused in upper case and lower case', () => {
  for (const password of LEAKED) {
    const capitalized = `${password.charAt(0).toUpperCase()}${password.slice(1)}`
    for (const spelling of [password, password.toUpperCase(), capitalized]) {
      expect(() => refuseCommonPassword(spelling, []), spelling).toThrow('password breaches')
    }
  }
})

test('other passwords are accepted', () => {
  for (const password of ['lamp orbit cedar fjord', 'chickenwing101-lamp', 'Zr7!mQ2#vT9k']) {
    expect(isBreachedPassword(password)).toBe(false)
    refuseCommonPassword(password, [])
  }
  const random = Array.from({ length: 5_000 }, (_, at) => createHash('sha256').update(`${at}`).digest('base64url'))
  // One of 100,000 other passwords is refused by mistake.
  expect(random.filter(isBreachedPassword).length).toBeLessThanOrEqual(1)
})

test('the list is sorted, without duplicates, and longer than the 3,000 passwords that the standard requires', () => {
  const bytes = readFileSync(join(import.meta.dir, '../../../src/admin/accounts/breached-passwords.bin'))
  const numbers = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32BE(at * 4))
  expect(numbers.length).toBeGreaterThan(40_000)
  expect(numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))).toBe(true)
})
