// A browser that an account was signed in from keeps a cookie that says so: its wrong guesses are counted by themselves,
// so that strangers who guess can't keep the account's owner out. The cookie proves nothing else and opens nothing.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../domain/time.ts'
import { deriveKeys, isMacOf, macOf, type RotatingKeys } from './derived-key.ts'

/** Half a year after the last time of signing in. */
export const DEVICE_SECONDS = 15_552_000

export interface KnownDevices {
  /** The device's id where it is known for this address; null otherwise. */
  find(token: string | null, email: string): string | null
  /** The cookie's new value. A device keeps its id, so that signing in again gives it no new guesses. */
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
