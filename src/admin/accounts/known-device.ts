// A signed cookie identifies a browser, so that guesses from elsewhere can't lock out the account's owner.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/time.ts'
import { deriveKeys, isMacOf, macOf, type RotatingKeys } from './derived-key.ts'

export const DEVICE_SECONDS = 15_552_000

export interface KnownDevices {
  /** Returns the device's id; null if this email address has not signed in from it. */
  find(token: string | null, email: string): string | null
  /** Returns the new value of the cookie, with the same id. */
  issue(token: string | null, email: string): string
}

const TOKEN = /^([A-Za-z0-9_-]{22})\.([0-9]{1,12})\.([A-Za-z0-9_-]{43})$/

export const createKnownDevices = (accountKeys: RotatingKeys, clock: Clock): KnownDevices => {
  const keys = deriveKeys(accountKeys, 'known devices')
  const parts = (id: string, untilSeconds: number | string, email: string): string[] => [
    id,
    String(untilSeconds),
    email.toLowerCase(),
  ]
  const find: KnownDevices['find'] = (token, email) => {
    const [, id = '', untilSeconds = '', mac = ''] = TOKEN.exec(token ?? '') ?? []
    const given = Buffer.from(mac, 'base64url')
    if (!keys().some((key) => isMacOf(key, parts(id, untilSeconds, email), given))) return null
    return Number(untilSeconds) <= clock.unixSeconds() ? null : id
  }
  return {
    find,
    issue: (token, email) => {
      const id = find(token, email) ?? randomBytes(16).toString('base64url')
      const untilSeconds = clock.unixSeconds() + DEVICE_SECONDS
      return `${id}.${untilSeconds}.${macOf(keys()[0], parts(id, untilSeconds, email)).toString('base64url')}`
    },
  }
}
