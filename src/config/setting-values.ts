// Parsers of settings. Errors state the expected form, never the given value; the caller adds the setting's name.

import { resolve } from 'node:path'
import { PROCESS_ROLES, type ProcessRole } from '../domain/process-role.ts'
import type { ScannerAddress } from '../identity/evidence/clamd.ts'
import type { ListenAddress } from '../server/listen-address.ts'

/** `host:port`, `[v6]:port`, or `:port` on loopback only. */
export const parseListen = (text: string): ListenAddress => {
  const split = text.lastIndexOf(':')
  const host = text.slice(0, split)
  const portText = text.slice(split + 1)
  const port = Number(portText)
  if (split < 0 || !/^[0-9]{1,5}$/.test(portText) || port > 65535) throw new Error('must be host:port or :port')
  if (host === '') return { hostname: '127.0.0.1', port }
  if (host.startsWith('[') && host.endsWith(']')) return { hostname: host.slice(1, -1), port }
  if (!/^[A-Za-z0-9.-]+$/.test(host)) throw new Error('must be host:port, [ipv6]:port or :port')
  return { hostname: host, port }
}

/** `unix:/path` or `tcp:host:port`; null for an empty text. */
export const parseScanner = (text: string): ScannerAddress | null => {
  if (text === '') return null
  if (/^unix:\/[^\0]+$/.test(text)) return { path: text.slice('unix:'.length) }
  if (!text.startsWith('tcp:')) throw new Error('must be unix:/path or tcp:HOST:PORT')
  const { hostname, port } = parseListen(text.slice('tcp:'.length))
  return { host: hostname, port }
}

export const parseInteger =
  (minimum: number, maximum: number) =>
  (text: string): number => {
    const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= minimum && value <= maximum)) throw new Error(`must be a whole number from ${minimum} to ${maximum}`)
    return value
  }

export const parseBoolean = (text: string): boolean => {
  if (text === 'true' || text === '1' || text === '') return true
  if (text === 'false' || text === '0') return false
  throw new Error('must be true or false')
}

export const parseChoice =
  <Choice extends string>(...choices: Choice[]) =>
  (text: string): Choice => {
    const found = choices.find((choice) => choice === text)
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`)
    return found
  }

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])
/** Limited, because every link contains it, and a QR code of 80 pixels must hold the link. */
const PORTAL_URL_MAX = 200

/** Returns the URL without a trailing slash; empty for an empty text. */
export const parsePublicUrl = (text: string): string => {
  if (text === '') return ''
  const url = URL.parse(text)
  const plain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname))
  if (!plain || !secure || url.href.length > PORTAL_URL_MAX) {
    throw new Error(`must be an https URL (http to loopback) of at most ${PORTAL_URL_MAX} characters`)
  }
  return url.href.endsWith('/') ? url.href.slice(0, -1) : url.href
}

/** Parses unique names, separated by commas. */
export const parseNames = (text: string): readonly string[] => {
  const names = text === '' ? [] : text.split(',').map((name) => name.trim())
  if (names.some((name) => !/^[a-z][a-z0-9-]*$/.test(name)) || new Set(names).size < names.length) {
    throw new Error('must be a comma-separated list of names, each only once')
  }
  return names
}

/** Parses `all`, or unique roles, separated by commas. */
export const parseRoles = (text: string): ReadonlySet<ProcessRole> => {
  if (text === 'all') return new Set(PROCESS_ROLES)
  const names = text.split(',').map((name) => name.trim())
  const roles = PROCESS_ROLES.filter((role) => names.includes(role))
  if (roles.length < names.length) {
    throw new Error(`must be all, or a comma-separated list of ${PROCESS_ROLES.join(', ')}, each only once`)
  }
  return new Set(roles)
}

export const parsePath = (text: string): string => {
  if (text === '' || text.includes('\0')) throw new Error('must be a path')
  return text
}

/** One file per listener; empty if there is none. */
export interface ByListener {
  readonly api: string
  readonly portal: string
  readonly dashboard: string
  readonly metrics: string
}

/** One file for all, or `api=FILE,portal=FILE,dashboard=FILE,metrics=FILE`. Returns absolute paths. */
export const parseByListener = (text: string): ByListener => {
  if (text === '') return { api: '', portal: '', dashboard: '', metrics: '' }
  if (!/^(api|portal|dashboard|metrics)=/.test(text)) {
    const path = resolve(parsePath(text))
    return { api: path, portal: path, dashboard: path, metrics: path }
  }
  const files: Record<keyof ByListener, string> = { api: '', portal: '', dashboard: '', metrics: '' }
  for (const part of text.split(',')) {
    const [, listener, path] = /^\s*(api|portal|dashboard|metrics)=(.+?)\s*$/.exec(part) ?? []
    if (listener === undefined || path === undefined || files[listener as keyof ByListener] !== '') {
      throw new Error(
        'must be a file, or a comma-separated list of api=FILE, portal=FILE, dashboard=FILE and metrics=FILE, each only once',
      )
    }
    files[listener as keyof ByListener] = resolve(parsePath(path))
  }
  return files
}

/** Null for `auto`: planned from the available processors. */
export const parseCountOrAuto =
  (minimum: number, maximum: number) =>
  (text: string): number | null =>
    text === 'auto' ? null : parseInteger(minimum, maximum)(text)

/** Key for all organizations that aren't named. */
export const ALL_OTHERS = '*'

/** `acme=4,other=1,*=2`: whole numbers of 1 or higher by short name. */
export const parseByOrganization =
  (maximum: number) =>
  (text: string): ReadonlyMap<string, number> => {
    const numbers = new Map<string, number>()
    for (const part of text === '' ? [] : text.split(',')) {
      const [, slug, number] = /^\s*([a-z0-9][a-z0-9-]*|\*)=([1-9][0-9]{0,8})\s*$/.exec(part) ?? []
      if (slug === undefined || Number(number) > maximum || numbers.has(slug)) {
        throw new Error(
          `must be a comma-separated list of ORG=NUMBER, each organization only once, * for all others, numbers from 1 to ${maximum}`,
        )
      }
      numbers.set(slug, Number(number))
    }
    return numbers
  }
