// Where a client's address is, by the MMDB file that the operator supplies. The file is read into memory, and read again
// when it changes; one that can't be read leaves the last good one in use. Without any, the fact can't be had.
// Source: https://maxmind.github.io/MaxMind-DB/.
import { readFile, stat } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import { Reader } from 'mmdb-lib'
import type { Clock } from '../domain/time.ts'
import type { GeographyFacts } from '../policy/types/facts.ts'
import { GEOGRAPHY_UNKNOWN, readGeographyRecord } from './geography-record.ts'

export interface GeographyFile {
  /** As its publisher calls it, for example `GeoLite2-City`. */
  readonly databaseType: string
  readonly ipVersion: number
  /** When its publisher built it, Unix seconds. */
  readonly builtAtSeconds: number
  readonly bytes: number
}

export interface Geography {
  /** Null: there is no file to look into. An address that the file does not know is unknown in every respect. */
  lookup(canonicalIp: string): GeographyFacts | null
  /** What is in use; null: nothing. */
  file(): GeographyFile | null
  /** Reads the file if it has changed since it was last read. Never rejects: what is wrong is reported. */
  refresh(): Promise<void>
  /** Refreshes from time to time. */
  start(): void
  stop(): void
}

export interface GeographyOptions {
  readonly path: string
  readonly clock: Clock
  readonly onLoaded: (file: GeographyFile) => void
  /** The file can't be read or is none of this kind. Once for each version of it. */
  readonly onError: (error: unknown) => void
}

const CHECK_INTERVAL_MS = 5_000
const CACHED_ADDRESSES = 20_000
const FILE_BYTES_MAX = 2 ** 31
/** Looked up when a file is opened: one that is damaged fails there and not with a request. */
const PROBES = ['1.1.1.1', '203.0.113.1']

/** The file is none that can be used; `detail` is for the operator. */
export class GeographyFileInvalidError extends Error {
  override readonly name = 'GeographyFileInvalidError'
  readonly detail: string
  constructor(detail: string, cause?: unknown) {
    super(detail, { cause })
    this.detail = detail
  }
}

interface Opened {
  readonly file: GeographyFile
  readonly lookup: (canonicalIp: string) => GeographyFacts
}

/** @throws GeographyFileInvalidError */
export const openGeographyFile = (contents: Buffer): Opened => {
  let reader: Reader<never>
  try {
    reader = new Reader<never>(contents)
    for (const probe of PROBES) reader.get(probe)
  } catch (error) {
    throw new GeographyFileInvalidError('it is no MMDB file, or a damaged one', error)
  }
  const { databaseType, ipVersion, buildEpoch } = reader.metadata
  const listsAnonymous = /anonymous|privacy/i.test(databaseType)
  return {
    file: {
      databaseType,
      ipVersion,
      builtAtSeconds: Math.floor(buildEpoch.getTime() / 1000),
      bytes: contents.length,
    },
    lookup: (canonicalIp) => {
      // A tree of IPv4 addresses would answer for the first bits of an IPv6 address.
      if (ipVersion === 4 && isIPv6(canonicalIp)) return GEOGRAPHY_UNKNOWN
      return readGeographyRecord(reader.get(canonicalIp), listsAnonymous)
    },
  }
}

export const createGeography = ({ path, onLoaded, onError }: GeographyOptions): Geography => {
  const known = new LRUCache<string, GeographyFacts>({ max: CACHED_ADDRESSES })
  let opened: Opened | null = null
  /** Of the file that was read last, good or not. */
  let seen = ''
  let timer: ReturnType<typeof setInterval> | undefined
  let refreshing: Promise<void> | null = null

  const refreshOnce = async (): Promise<void> => {
    let version = 'missing'
    try {
      const { mtimeMs, size, ino } = await stat(path)
      version = `${mtimeMs} ${size} ${ino}`
      if (version === seen) return
      if (size > FILE_BYTES_MAX) throw new GeographyFileInvalidError('it is too large')
      opened = openGeographyFile(await readFile(path))
      known.clear()
      onLoaded(opened.file)
    } catch (error) {
      if (version !== seen) onError(error)
    }
    seen = version
  }

  const refresh = (): Promise<void> => {
    refreshing ??= refreshOnce().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  return {
    lookup: (canonicalIp) => {
      const cached = known.get(canonicalIp)
      if (cached !== undefined) return cached
      if (opened === null) return null
      try {
        const facts = opened.lookup(canonicalIp)
        known.set(canonicalIp, facts)
        return facts
      } catch (error) {
        onError(error)
        return null
      }
    },
    file: () => opened?.file ?? null,
    refresh,
    start: () => {
      timer = setInterval(() => void refresh(), CHECK_INTERVAL_MS)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}
