// What MMDB files say, and what happens when there is none, a damaged one, or a new one.
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
    [
      '203.0.113.0/24',
      { country: { iso_code: 'us', names: { en: 'United States' } }, subdivisions: [{ iso_code: 'NY' }] },
    ],
    ['203.0.113.128/25', { country: { iso_code: 'GB' }, subdivisions: [{ iso_code: 'ENG' }, { iso_code: 'WSM' }] }],
    ['198.51.100.7/32', { traits: { is_anonymous: true, is_anonymous_vpn: true } }],
    ['2001:db8::/32', { country: { iso_code: 'DE' } }],
  ],
}

const country = (file: MmdbFile, address: string): string | null =>
  openGeographyFile(writeMmdb(file)).lookup(address).country

describe('a geography file', () => {
  test('tells country and region of IPv4 and IPv6 addresses; the narrower network counts', () => {
    const { lookup, file } = openGeographyFile(writeMmdb(CITY))
    expect(file).toMatchObject({ databaseType: 'Test-City', ipVersion: 6, builtAtSeconds: 1_700_000_000 })
    expect(lookup('203.0.113.1')).toEqual({ ...GEOGRAPHY_UNKNOWN, country: 'US', region: 'US-NY' })
    expect(lookup('203.0.113.200')).toEqual({ ...GEOGRAPHY_UNKNOWN, country: 'GB', region: 'GB-ENG' })
    expect(lookup('2001:db8:1::7')).toEqual({ ...GEOGRAPHY_UNKNOWN, country: 'DE' })
    expect(lookup('198.51.100.7')).toEqual({ ...GEOGRAPHY_UNKNOWN, anonymous: true, vpn: true })
  })

  test('leaves unknown what it does not know', () => {
    const { lookup } = openGeographyFile(writeMmdb(CITY))
    for (const address of ['198.51.100.8', '10.0.0.1', '127.0.0.1', '2001:db9::1', '::1', 'fe80::1', '']) {
      expect([address, lookup(address)]).toEqual([address, GEOGRAPHY_UNKNOWN])
    }
  })

  test('of IPv4 alone knows no IPv6 address, whatever its first bits', () => {
    const file: MmdbFile = { ...CITY, ipVersion: 4, networks: [['32.1.0.0/16', { country: { iso_code: 'FR' } }]] }
    expect(country(file, '32.1.9.9')).toBe('FR')
    // 2001:… begins with the bits of 32.1.
    expect(country(file, '2001:db8::1')).toBeNull()
  })

  test('that is none is refused', () => {
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

  test('is read in the forms that publishers use', () => {
    expect(read({ country_code: 'DE', country: 'Germany' })).toMatchObject({ country: 'DE' })
    expect(read({ country: 'JP', region_code: '13' })).toMatchObject({ country: 'JP', region: 'JP-13' })
    expect(read({ country: { iso_code: 'US' }, subdivisions: [{ iso_code: 'US-CA' }] })).toMatchObject({
      region: 'US-CA',
    })
    expect(read({ vpn: 'true', proxy: '', tor: '', relay: '', hosting: 'true' })).toEqual({
      ...GEOGRAPHY_UNKNOWN,
      anonymous: true,
      vpn: true,
      proxy: false,
      tor: false,
      hosting: true,
    })
    expect(read({ privacy: { vpn: false, proxy: false, tor: false, hosting: false } })).toMatchObject({
      anonymous: false,
    })
    expect(read({ is_residential_proxy: true })).toMatchObject({ proxy: true, anonymous: true, vpn: null })
    expect(read({ traits: { is_anonymous: false } })).toMatchObject({ anonymous: false, vpn: null })
  })

  test('of another shape says nothing', () => {
    for (const record of [null, undefined, 'US', 7, [], { country: 'Germany' }, { country: { iso_code: 'USA' } }]) {
      expect(readGeographyRecord(record, false)).toEqual(GEOGRAPHY_UNKNOWN)
    }
    expect(read({ subdivisions: [{ iso_code: 'NY' }] })).toEqual(GEOGRAPHY_UNKNOWN)
    expect(read({ country: { iso_code: 'US' }, subdivisions: [{ iso_code: 'NEW YORK' }] }).region).toBeNull()
  })

  test('of a file of anonymous networks says no where it does not say yes', () => {
    expect(read({ is_anonymous: true, is_tor_exit_node: true }, true)).toEqual({
      ...GEOGRAPHY_UNKNOWN,
      anonymous: true,
      vpn: false,
      proxy: false,
      tor: true,
      hosting: false,
    })
    expect(readGeographyRecord(null, true)).toMatchObject({ country: null, anonymous: false, vpn: false })
    const file: MmdbFile = {
      ...CITY,
      databaseType: 'Test-Anonymous-IP',
      networks: [['1.2.3.0/24', { is_anonymous: true }]],
    }
    expect(openGeographyFile(writeMmdb(file)).lookup('1.2.4.1').anonymous).toBe(false)
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
    // Replaced as a publisher's updater does: in one step.
    const replace = (contents: Buffer): void => {
      writeFileSync(`${path}.new`, contents)
      renameSync(`${path}.new`, path)
    }
    return { path, geography, loaded, errors, replace }
  }

  test('can’t be had without a file, and is there once there is one', async () => {
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

  test('is read again when the file changes, and only then', async () => {
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

  test('keeps the last good file when the next is damaged or gone, and says so once', async () => {
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
