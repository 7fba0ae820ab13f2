// Locates addresses with the operator's MMDB file, which is kept in memory. Source:
// https://maxmind.github.io/MaxMind-DB/.

import { readFile, stat } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import { Reader } from 'mmdb-lib'
import { DetailedError } from '../lib/named-error.ts'
import { singleFlight } from '../lib/single-flight.ts'
import type { Clock } from '../lib/time.ts'
import type { GeographyFacts } from '../policy/sources/geography.ts'
import { GEOGRAPHY_UNKNOWN, readGeographyRecord } from './geography-record.ts'

export interface GeographyFile {
  /** Publisher's name, such as `GeoLite2-City`. */
  readonly databaseType: string
  readonly ipVersion: number
  readonly builtAtSeconds: number
  readonly bytes: number
}

export interface GeographyOptions {
  readonly path: string
  readonly clock: Clock
  readonly onLoaded: (file: GeographyFile) => void
  /** Called once per unusable version of the file. */
  readonly onError: (error: unknown) => void
}

const CHECK_INTERVAL_MS = 5_000
const CACHED_ADDRESSES = 20_000
const FILE_BYTES_MAX = 2 ** 31
/** Looked up on opening, so that a damaged file doesn't fail during a request. */
const PROBES = ['1.1.1.1', '203.0.113.1']

export class GeographyFileInvalidError extends DetailedError {}

interface Opened {
  readonly file: GeographyFile
  readonly lookup: (canonicalIp: string) => GeographyFacts
}

export const openGeographyFile = (contents: Buffer): Opened => {
  let reader: Reader<never>
  try {
    reader = new Reader<never>(contents)
    for (const probe of PROBES) reader.get(probe)
  } catch (error) {
    throw new GeographyFileInvalidError('the file is not an MMDB file, or is damaged', error)
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
      // In an IPv4 tree, an IPv6 address would match by its first bits.
      if (ipVersion === 4 && isIPv6(canonicalIp)) return GEOGRAPHY_UNKNOWN
      return readGeographyRecord(reader.get(canonicalIp), listsAnonymous)
    },
  }
}

export const createGeography = ({ path, onLoaded, onError }: GeographyOptions) => {
  const known = new LRUCache<string, GeographyFacts>({ max: CACHED_ADDRESSES })
  let opened: Opened | null = null
  /** Version read last, valid or not. */
  let seen = ''
  let timer: ReturnType<typeof setInterval> | undefined

  const refreshOnce = async (): Promise<void> => {
    let version = 'missing'
    try {
      const { mtimeMs, size, ino } = await stat(path)
      version = `${mtimeMs} ${size} ${ino}`
      if (version === seen) return
      if (size > FILE_BYTES_MAX) throw new GeographyFileInvalidError('the file is too large')
      opened = openGeographyFile(await readFile(path))
      known.clear()
      onLoaded(opened.file)
    } catch (error) {
      if (version !== seen) onError(error)
    }
    seen = version
  }

  const refresh = singleFlight(refreshOnce)

  return {
    /** Returns null if there is no file; all facts are null if the file lacks the address. */
    lookup: (canonicalIp: string): GeographyFacts | null => {
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
    file: (): GeographyFile | null => opened?.file ?? null,
    refresh,
    start: () => {
      timer = setInterval(() => void refresh(), CHECK_INTERVAL_MS)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}

export type Geography = ReturnType<typeof createGeography>
