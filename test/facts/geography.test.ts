// Geography files (MMDB): their records, and missing, damaged and replaced files.
import { afterAll, describe, expect, test } from 'bun:test'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createGeography,
  type GeographyFile,
  GeographyFileInvalidError,
  openGeographyFile,
} from '../../src/facts/geography.ts'
import { GEOGRAPHY_UNKNOWN, readGeographyRecord } from '../../src/facts/geography-record.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { temporaryFolder } from '../store/temporary-store.ts'
import { type MmdbFile, type MmdbValue, writeMmdb } from './mmdb-writer.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

const CITY: MmdbFile = {
  databaseType: 'Test-City',
  ipVersion: 6,
  buildEpoch: 1_700_000_000,
  networks: [
    ['203.0.113.0/24', { country: { iso_code: 'us', names: { en: 'US' } }, subdivisions: [{ iso_code: 'NY' }] }],
    ['203.0.113.128/25', { country: { iso_code: 'GB' }, subdivisions: [{ iso_code: 'ENG' }, { iso_code: 'WSM' }] }],
    ['198.51.100.7/32', { traits: { is_anonymous: true, is_anonymous_vpn: true } }],
    ['2001:db8::/32', { country: { iso_code: 'DE' } }],
  ],
}

const country = (file: MmdbFile, address: string): string | null =>
  openGeographyFile(writeMmdb(file)).lookup(address).country

describe('a geography file', () => {
  const { lookup, file } = openGeographyFile(writeMmdb(CITY))
  test.each<[string, Partial<typeof GEOGRAPHY_UNKNOWN>]>([
    ['203.0.113.1', { country: 'US', region: 'US-NY' }],
    // The narrower network counts.
    ['203.0.113.200', { country: 'GB', region: 'GB-ENG' }],
    ['2001:db8:1::7', { country: 'DE' }],
    ['198.51.100.7', { anonymous: true, vpn: true }],
    ...['198.51.100.8', '10.0.0.1', '127.0.0.1', '2001:db9::1', '::1', 'fe80::1', ''].map(
      (address) => [address, {}] as [string, object],
    ),
  ])('has the record of %p', (address, record) => {
    expect(lookup(address)).toEqual({ ...GEOGRAPHY_UNKNOWN, ...record })
  })

  test('has a type and a build time', () => {
    expect(file).toMatchObject({ databaseType: 'Test-City', ipVersion: 6, builtAtSeconds: 1_700_000_000 })
  })

  test('for IPv4 has no record of IPv6 addresses', () => {
    const file: MmdbFile = { ...CITY, ipVersion: 4, networks: [['32.1.0.0/16', { country: { iso_code: 'FR' } }]] }
    expect(country(file, '32.1.9.9')).toBe('FR')
    // 2001:db8::1 begins with the bits of 32.1.
    expect(country(file, '2001:db8::1')).toBeNull()
  })

  test('is rejected if it is damaged or not an MMDB file', () => {
    const whole = writeMmdb(CITY)
    const damaged = Buffer.from(whole)
    damaged.fill(255, 0, 200)
    for (const contents of [Buffer.alloc(0), Buffer.from('<html>'), whole.subarray(0, whole.length - 30), damaged]) {
      expect(() => openGeographyFile(contents)).toThrow(GeographyFileInvalidError)
    }
  })
})

describe('a record', () => {
  const read = (record: MmdbValue, listsAnonymous = false) => readGeographyRecord(record, listsAnonymous)

  test.each<[MmdbValue, Partial<typeof GEOGRAPHY_UNKNOWN>]>([
    [{ country_code: 'DE', country: 'Germany' }, { country: 'DE' }],
    [
      { country: 'JP', region_code: '13' },
      { country: 'JP', region: 'JP-13' },
    ],
    [{ country: { iso_code: 'US' }, subdivisions: [{ iso_code: 'US-CA' }] }, { region: 'US-CA' }],
    [{ privacy: { vpn: false, proxy: false, tor: false, hosting: false } }, { anonymous: false }],
    [{ is_residential_proxy: true }, { proxy: true, anonymous: true, vpn: null }],
    [{ traits: { is_anonymous: false } }, { anonymous: false, vpn: null }],
    [{ country: { iso_code: 'US' }, subdivisions: [{ iso_code: 'NEW YORK' }] }, { region: null }],
    [
      { vpn: 'true', proxy: '', tor: '', relay: '', hosting: 'true' },
      { ...GEOGRAPHY_UNKNOWN, anonymous: true, vpn: true, proxy: false, tor: false, hosting: true },
    ],
  ])('%j is read as %j', (record, expected) => expect(read(record)).toMatchObject(expected))

  const malformed = [null, undefined, 'US', 7, [], { country: 'Germany' }, { country: { iso_code: 'USA' } }]
  test.each([...malformed, { subdivisions: [{ iso_code: 'NY' }] }].map((record) => [record]))(
    '%j is unknown',
    (record) => expect(readGeographyRecord(record, false)).toEqual(GEOGRAPHY_UNKNOWN),
  )

  test('of a file of anonymous networks is false for other networks', () => {
    const tor = { anonymous: true, vpn: false, proxy: false, tor: true, hosting: false }
    expect(read({ is_anonymous: true, is_tor_exit_node: true }, true)).toEqual({ ...GEOGRAPHY_UNKNOWN, ...tor })
    expect(readGeographyRecord(null, true)).toMatchObject({ country: null, anonymous: false, vpn: false })
    const networks: MmdbFile['networks'] = [['1.2.3.0/24', { is_anonymous: true }]]
    const anonymous = openGeographyFile(writeMmdb({ ...CITY, databaseType: 'Test-Anonymous-IP', networks }))
    expect(anonymous.lookup('1.2.4.1').anonymous).toBe(false)
  })
})

describe('geography', () => {
  const create = (name: string) => {
    const path = join(folder.path, name)
    const loaded: GeographyFile[] = []
    const errors: unknown[] = []
    const geography = createGeography({
      path,
      clock: createManualClock(),
      onLoaded: (file) => loaded.push(file),
      onError: (error) => errors.push(error),
    })
    /** Replaces the file in one step, as an updater does. */
    const replace = (contents: Buffer): void => {
      writeFileSync(`${path}.new`, contents)
      renameSync(`${path}.new`, path)
    }
    return { path, geography, loaded, errors, replace }
  }

  test('is unavailable without a file, and available once there is a file', async () => {
    const { geography, errors, loaded, replace } = create('missing.mmdb')
    await geography.refresh()
    await geography.refresh()
    expect(geography.lookup('203.0.113.1')).toBeNull()
    expect(geography.file()).toBeNull()
    expect(errors).toMatchObject([{ code: 'ENOENT' }])
    replace(writeMmdb(CITY))
    await geography.refresh()
    expect(geography.lookup('203.0.113.1')?.country).toBe('US')
    expect(loaded).toHaveLength(1)
  })

  test('is read again only if the file changes', async () => {
    const { geography, loaded, replace } = create('changing.mmdb')
    replace(writeMmdb(CITY))
    await geography.refresh()
    expect(geography.lookup('203.0.113.1')?.country).toBe('US')
    await geography.refresh()
    expect(loaded).toHaveLength(1)
    replace(writeMmdb({ ...CITY, buildEpoch: 1_700_000_001, networks: [['203.0.113.0/24', { country_code: 'CA' }]] }))
    await Promise.all([geography.refresh(), geography.refresh()])
    expect(geography.lookup('203.0.113.1')?.country).toBe('CA')
    expect(loaded).toHaveLength(2)
  })

  test('keeps the last good file, and reports a damaged or missing file once', async () => {
    const { path, geography, errors, replace } = create('damaged.mmdb')
    replace(writeMmdb(CITY))
    await geography.refresh()
    replace(Buffer.from('half a download'))
    await geography.refresh()
    await geography.refresh()
    expect(errors).toHaveLength(1)
    rmSync(path)
    await geography.refresh()
    expect(errors).toHaveLength(2)
    expect(geography.lookup('203.0.113.1')?.country).toBe('US')
  })
})
