// Shipping of the log to a target, despite interruptions, refusals and damage, and the verification of the copies.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeNameOf } from '../../src/decision-log/node-name.ts'
import { parseRecordLine } from '../../src/decision-log/record.ts'
import { parseShippedName, pieceObject } from '../../src/decision-log/shipped-lines.ts'
import type { LogRecord, SegmentWriter } from '../../src/decision-log/types.ts'
import { createShipper, ShippedWrongError, type ShipperOptions } from '../../src/modules/log-shipping/ship.ts'
import { verifyNodes } from '../../src/modules/log-shipping/verify-nodes.ts'
import { createBucketTarget, parseBucketCredentials } from '../../src/object-store/ship-bucket.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import { parseShipPlace, type ShipTarget } from '../../src/object-store/ship-target.ts'
import {
  attestation,
  attestations,
  manualClock,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  START_MS,
  segmentNames,
  temporaryDirectory,
  untilReadersClose,
  writeSegment,
} from '../decision-log/fixtures.ts'
import { words } from '../support/words.ts'
import { type FakeBucket, startFakeBucket } from './fake-bucket.ts'

const NODE = 'web-1'

interface Place {
  readonly target: ShipTarget
  names(): string[]
  bytes(name: string): Buffer
  /** Writes an object as another writer. */
  write(name: string, bytes: Buffer): void
  remove(name: string): void
}

let buckets: FakeBucket[] = []
let log = ''
let writer: SegmentWriter

const folderPlace = (): Place => {
  const root = temporaryDirectory()
  return {
    target: createFolderTarget(root),
    names: () =>
      (readdirSync(root, { recursive: true }) as string[])
        .filter((name) => /\.(ndjson|part|sha256|tmp)$/.test(name))
        .sort(),
    bytes: (name) => readFileSync(join(root, name)),
    write: (name, bytes) => writeFileSync(join(root, name), bytes),
    remove: (name) => rmSync(join(root, name)),
  }
}

const startBucket = (): FakeBucket => {
  const bucket = startFakeBucket('logs')
  buckets.push(bucket)
  return bucket
}

const bucketTarget = ({ endpoint }: FakeBucket): ShipTarget =>
  createBucketTarget(
    { kind: 'bucket', bucket: 'logs', prefix: 'prod/' },
    { endpoint, region: 'eu-central-1', accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: null },
  )

const bucketPlace = (): Place => {
  const bucket = startBucket()
  return {
    target: bucketTarget(bucket),
    names: () => [...bucket.objects.keys()].map((key) => key.slice('prod/'.length)).sort(),
    bytes: (name) => bucket.objects.get(`prod/${name}`) as Buffer,
    write: (name, bytes) => void bucket.objects.set(`prod/${name}`, bytes),
    remove: (name) => void bucket.objects.delete(`prod/${name}`),
  }
}

const shipperOf = (target: ShipTarget, changes: Partial<ShipperOptions> = {}) =>
  createShipper({
    directory: log,
    node: NODE,
    target,
    tailEveryMs: 1_000,
    monotonicMs: () => 0,
    pieceBytes: 4_000,
    ...changes,
  })

const append = (from: number, to: number): void => {
  for (const number of range(from, to)) writer.append([attestation(number)])
}
const local = (name: string): Buffer => readFileSync(join(log, 'w00', name))
const COMPLETE = { bytesUnshipped: 0, complete: true, failure: null }

/** Ships the log of a second node. */
const shipSecondNode = async (target: ShipTarget, records: readonly LogRecord[]): Promise<void> => {
  const directory = temporaryDirectory()
  writeSegment(directory, records)
  await shipperOf(target, { directory, node: 'web-2' }).pass()
}

beforeEach(() => {
  log = temporaryDirectory()
  buckets = []
  writer = openTestSegment(log, { maxBytes: 10_000 })
})
afterEach(async () => {
  writer.close()
  for (const bucket of buckets) await bucket.stop()
  await untilReadersClose()
  removeTemporaryDirectories()
})

test('growing segments are shipped regularly while many closed ones are shipped', async () => {
  const { target } = folderPlace()
  append(0, 80)
  const sent: ('closed' | 'growing')[] = []
  let nowMs = 0
  let next = 80
  const shipper = shipperOf(
    {
      ...target,
      put: async (name, content) => {
        if (name.endsWith('.part')) sent.push('growing')
        else if (name.endsWith('.ndjson')) {
          sent.push('closed')
          nowMs += 400
          append(next, next + 1)
          next += 1
        }
        await target.put(name, content)
      },
    },
    { monotonicMs: () => nowMs, pieceBytes: 1_000_000 },
  )
  await shipper.pass()
  expect(sent.slice(0, 9).join(' ')).toBe('growing closed closed closed growing closed closed closed growing')
})

describe.each([
  ['a folder', folderPlace],
  ['a bucket', bucketPlace],
] as const)('to %s', (_, open) => {
  test('closed segments are shipped as one object with a digest, and the growing segment in pieces', async () => {
    const place = open()
    append(0, 30)
    const [first = '', ...rest] = segmentNames(log)
    const newest = rest.at(-1) as string
    expect(rest.length).toBeGreaterThan(1)
    expect(await shipperOf(place.target).pass()).toEqual(COMPLETE)

    expect(place.bytes(`${NODE}/w00/${first}`)).toEqual(local(first))
    const digest = createHash('sha256').update(local(first)).digest('hex')
    expect(place.bytes(`${NODE}/w00/${first}.sha256`).toString()).toBe(`${digest}  ${first}\n`)
    const pieces = place.names().filter((name) => name.includes('.part'))
    expect(pieces.every((name) => name.startsWith(`${NODE}/w00/${newest}.`))).toBe(true)
    expect(pieces.map((name) => place.bytes(name).toString()).join('')).toBe(local(newest).toString())
    expect(place.names().filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('complete pieces of a growing segment are sent once, and deleted when the segment is closed', async () => {
    const place = open()
    const shipper = shipperOf(place.target)
    append(0, 7)
    await shipper.pass()
    const [first = ''] = segmentNames(log)
    const sealed = place.bytes(pieceObject(NODE, 'w00', first, 0))
    append(7, 9)
    const before = shipper.progress().bytes
    await shipper.pass()
    expect(shipper.progress().bytes - before).toBeLessThan(8_000)
    expect(place.bytes(pieceObject(NODE, 'w00', first, 0))).toEqual(sealed)
    append(9, 30)
    await shipper.pass()
    expect(place.names().filter((name) => name.startsWith(`${NODE}/w00/${first}`))).toEqual([
      `${NODE}/w00/${first}`,
      `${NODE}/w00/${first}.sha256`,
    ])
    expect(place.bytes(`${NODE}/w00/${first}`)).toEqual(local(first))
  })

  test('a restart continues from the state of the target, and completes interrupted uploads', async () => {
    const place = open()
    append(0, 30)
    await shipperOf(place.target).pass()
    const again = shipperOf(place.target)
    expect(await again.pass()).toMatchObject({ complete: true })
    expect(again.progress().bytes).toBe(0)

    const [first = '', second = ''] = segmentNames(log)
    place.remove(`${NODE}/w00/${first}.sha256`)
    place.write(`${NODE}/w00/${first}`, Buffer.from('half'))
    place.remove(`${NODE}/w00/${second}.sha256`)
    const third = shipperOf(place.target)
    await third.pass()
    expect(place.bytes(`${NODE}/w00/${first}`)).toEqual(local(first))
    expect(existsSync(join(log, 'w00', second))).toBe(true)
    // The second was complete except for its digest.
    expect(third.progress().bytes).toBe(local(first).length + 2 * (64 + 2 + first.length + 1))
  })

  test('remaining pieces of a complete segment are deleted', async () => {
    const place = open()
    append(0, 30)
    await shipperOf(place.target).pass()
    const [first = ''] = segmentNames(log)
    const piece = pieceObject(NODE, 'w00', first, 0)
    await place.target.put(piece, new Blob([local(first).subarray(0, 4_000)]))
    const again = shipperOf(place.target)
    await again.pass()
    expect(place.names()).not.toContain(piece)
    expect(again.progress()).toMatchObject({ bytes: 0, segments: 0 })
  })

  test('objects of other writers neither replace copies nor stop shipping', async () => {
    const place = open()
    append(0, 7)
    await shipperOf(place.target).pass()
    const [first = ''] = segmentNames(log)
    const size = local(first).length
    expect(place.names()).toEqual([0, 4_000].map((start) => pieceObject(NODE, 'w00', first, start)))
    // The same sizes as the segment and the next pieces.
    place.write(`${NODE}/w00/${first}`, Buffer.alloc(size, 'x'))
    place.write(`${NODE}/w00/${first}.sha256`, Buffer.from('junk\n'))
    place.write(pieceObject(NODE, 'w00', first, 8_000), Buffer.alloc(4_000, 'x'))
    const piece = pieceObject(NODE, 'w00', first, 4_000)
    place.write(piece, Buffer.alloc(place.bytes(piece).length, 'x'))

    const again = shipperOf(place.target)
    expect(await again.pass()).toEqual(COMPLETE)
    expect(place.bytes(piece)).toEqual(local(first).subarray(4_000))
    append(7, 30)
    expect(await again.pass()).toEqual(COMPLETE)
    expect(place.bytes(`${NODE}/w00/${first}`)).toEqual(local(first))
    expect((await verifyNodes(place.target)).ok).toBe(true)
  })

  test('the pieces of a closed segment with a wrong object of another writer are kept until the copy is complete', async () => {
    const place = open()
    append(0, 30)
    await shipperOf(place.target).pass()
    const [first = '', second = ''] = segmentNames(log)
    const pieceOf = (name: string) => pieceObject(NODE, 'w00', name, 0)
    // One has the same size, and a piece; the other has another size.
    place.write(pieceOf(first), local(first).subarray(0, 4_000))
    place.write(`${NODE}/w00/${first}`, Buffer.alloc(local(first).length, 'x'))
    place.write(`${NODE}/w00/${second}`, Buffer.from('x\n'))
    const isOfFirst = (name: string) => name.startsWith(`${NODE}/w00/${first}`)
    const full = {
      ...place.target,
      put: (name: string, content: Blob) =>
        isOfFirst(name) ? Promise.reject(new Error('locked')) : place.target.put(name, content),
    }
    expect((await shipperOf(full).pass()).complete).toBe(false)
    expect(place.names()).toContain(pieceOf(first))
    await shipperOf(place.target).pass()
    for (const name of [first, second]) expect(place.bytes(`${NODE}/w00/${name}`)).toEqual(local(name))
    expect(place.names()).not.toContain(pieceOf(first))
  })

  test('an incomplete line and a segment without records are not shipped', async () => {
    const place = open()
    const shipper = shipperOf(place.target)
    expect(await shipper.pass()).toMatchObject({ complete: true, bytesUnshipped: 0 })
    expect(place.names()).toEqual([])
    append(0, 1)
    const [first = ''] = segmentNames(log)
    const length = local(first).length
    appendFileSync(join(log, 'w00', first), '{"half')
    await shipper.pass()
    expect(place.bytes(pieceObject(NODE, 'w00', first, 0)).length).toBe(length)
  })

  test('the copies of several nodes are verified', async () => {
    const place = open()
    append(0, 30)
    await shipperOf(place.target).pass()
    await shipSecondNode(place.target, attestations(100, 105))
    const report = await verifyNodes(place.target)
    expect(report).toMatchObject({ ok: true, repeated: [] })
    expect(report.nodes.map(({ node, decisions, fromPieces, ok }) => [node, decisions, fromPieces, ok])).toEqual([
      ['web-1', 30, 1, true],
      ['web-2', 5, 1, true],
    ])
  })

  test('verification detects a uuid that two nodes recorded, a changed copy and a missing piece', async () => {
    const place = open()
    append(0, 30)
    await shipperOf(place.target).pass()
    await shipSecondNode(place.target, [attestation(1_000), attestation(3)])
    const { ok, repeated } = await verifyNodes(place.target)
    const places = [
      { node: 'web-1', line: 5 },
      { node: 'web-2', line: 3 },
    ]
    expect([ok, repeated.length]).toEqual([false, 1])
    expect(repeated[0]).toMatchObject({ uuid: attestation(3).uuid, places })

    const [first = ''] = segmentNames(log)
    const damaged = Buffer.from(local(first))
    damaged[damaged.length - 30] = (damaged[damaged.length - 30] as number) ^ 1
    place.write(`${NODE}/w00/${first}`, damaged)
    const changed = await verifyNodes(place.target)
    expect(changed.nodes[0]?.problems).toEqual([`w00/${first} does not match its .sha256`])

    const newest = segmentNames(log).at(-1) as string
    expect(place.names()).toContain(pieceObject(NODE, 'w00', newest, 4_000))
    place.remove(pieceObject(NODE, 'w00', newest, 0))
    const gap = await verifyNodes(place.target)
    expect(gap.nodes[0]?.problems.at(-1)).toBe(`w00/${newest} has a gap: the piece that starts at byte 0 is missing`)
  })
})

describe('a faulty target', () => {
  test('is reported with the unshipped bytes; the next pass ships them', async () => {
    const bucket = startBucket()
    const shipper = shipperOf(bucketTarget(bucket))
    append(0, 3)
    expect(await shipper.pass()).toMatchObject({ complete: true })
    bucket.failure = 503
    append(3, 30)
    const failed = await shipper.pass()
    expect(failed.complete).toBe(false)
    expect(failed.failure).toBeInstanceOf(Error)
    expect(failed.bytesUnshipped).toBeGreaterThan(10_000)
    bucket.failure = null
    expect(await shipper.pass()).toEqual(COMPLETE)
    expect((await verifyNodes(bucketTarget(bucket))).ok).toBe(true)
  })

  test('with an endless object or list is abandoned', async () => {
    const bucket = startBucket()
    const target = bucketTarget(bucket)
    bucket.objects.set('prod/a', Buffer.alloc(1_000, 1))
    expect((await target.readRange('a', 0, 1_000))?.length).toBe(1_000)
    expect(await target.readRange('none', 0, 10)).toBeNull()
    bucket.endless = true
    await expect(target.readRange('a', 0, 1_000)).rejects.toThrow('more bytes than requested')
    const another = { bytes: 1_000, sha256: 'another', md5: 'another' }
    await expect(target.isIntact('a', another)).rejects.toThrow('more bytes than requested')
    await expect(target.list('')).rejects.toThrow('does not end')
    const whole = async (): Promise<void> => {
      for await (const chunk of target.read('a')) expect(chunk.length).toBeGreaterThan(0)
    }
    await expect(whole()).rejects.toThrow('more bytes than requested')
    bucket.endless = false
    bucket.floods = true
    await expect(target.list('')).rejects.toThrow('timed out, or the list is too long')
    bucket.floods = false
    bucket.wanders = true
    await expect(target.list('')).rejects.toThrow('does not end')
    expect(bucket.requests.length).toBeLessThan(200)
  })

  test('that lists objects with other prefixes yields only the requested objects', async () => {
    const bucket = startBucket()
    for (const name of ['prod/one/a', 'prod/two/a', 'other/one/a']) bucket.objects.set(name, Buffer.alloc(1))
    const list = () => bucketTarget(bucket).list('one/')
    expect(await list()).toEqual([{ name: 'one/a', bytes: 1 }])
    bucket.ignoresPrefix = true
    expect(await list()).toEqual([{ name: 'one/a', bytes: 1 }])
  })

  test('that fails at startup or later is retried, and an empty folder gets all segments again', async () => {
    const root = temporaryDirectory()
    const shipper = shipperOf(createFolderTarget(root))
    append(0, 30)
    for (const attempt of [1, 2]) {
      const shipped = attempt === 1 ? [] : (readdirSync(root, { recursive: true }) as string[])
      rmSync(root, { recursive: true })
      writeFileSync(root, '')
      append(30 + attempt, 31 + attempt)
      expect(await shipper.pass()).toMatchObject({ complete: false })
      rmSync(root)
      mkdirSync(root)
      expect(await shipper.pass()).toMatchObject({ complete: true, bytesUnshipped: 0 })
      const again = readdirSync(root, { recursive: true }) as string[]
      expect(again.filter((name) => name.endsWith('.sha256')).length).toBeGreaterThan(1)
      expect(shipped.filter((name) => name.endsWith('.ndjson') && !again.includes(name))).toEqual([])
    }
    expect((await verifyNodes(createFolderTarget(root))).ok).toBe(true)
  })

  test('that changes an object is detected by the hash of the object', async () => {
    const place = folderPlace()
    append(0, 2)
    const shipper = shipperOf({
      ...place.target,
      put: async (name, content) => {
        await place.target.put(name, new Blob([(await content.text()).replace('ethereum', 'ethereun')]))
      },
    })
    const { complete, failure } = await shipper.pass()
    expect(complete).toBe(false)
    expect(failure).toBeInstanceOf(ShippedWrongError)
  })

  test('gets a large segment in parts', async () => {
    const bucket = startBucket()
    writer.close()
    rmSync(join(log, 'w00'), { recursive: true })
    const large = openTestSegment(log, { maxBytes: 9_000_000 })
    for (const batch of range(0, 20)) large.append(attestations(batch * 500, batch * 500 + 500))
    large.close()
    const [first = ''] = segmentNames(log)
    expect(local(first).length).toBeGreaterThan(8_388_608)
    expect(await shipperOf(bucketTarget(bucket)).pass()).toMatchObject({ complete: true })
    expect(bucket.requests.filter((request) => request === `POST prod/${NODE}/w00/${first}`)).toHaveLength(2)
    expect(bucket.objects.get(`prod/${NODE}/w00/${first}`)?.equals(local(first))).toBe(true)
  })
})

describe('names', () => {
  test('of targets and credentials are parsed strictly', () => {
    expect(parseShipPlace('dir:/mnt/logs/')).toEqual({ kind: 'folder', path: '/mnt/logs/' })
    expect(parseShipPlace('s3://logs')).toEqual({ kind: 'bucket', bucket: 'logs', prefix: '' })
    expect(parseShipPlace('s3://logs/a/b/')).toEqual({ kind: 'bucket', bucket: 'logs', prefix: 'a/b/' })
    for (const text of words`dir: dir:relative s3:// s3://A s3://logs/../x s3://logs/a//b /x http://x`.concat('')) {
      expect(() => parseShipPlace(text)).toThrow('must be')
    }
    const credentials = { accessKeyId: 'id', secretAccessKey: 'secret/+=', sessionToken: null }
    expect(parseBucketCredentials('id:secret/+=\n')).toEqual(credentials)
    for (const text of ['', 'id', 'id:', ':s', 'id:s:', 'a:b:c:d']) {
      expect(() => parseBucketCredentials(text)).toThrow('must be')
    }
  })

  test('of nodes are stored in the log, and objects with other names are ignored', () => {
    const name = nodeNameOf(log)
    expect(name).toMatch(/^[a-z0-9][a-z0-9-]*-[0-9a-f]{8}$/)
    expect(nodeNameOf(log)).toBe(name)
    expect(nodeNameOf(temporaryDirectory())).not.toBe(name)
    for (const stranger of ['x', 'n/w00/readme.txt', 'n/w00/a/b', 'N/w00/20261120T101112.123Z-000001.ndjson']) {
      expect(parseShippedName(stranger)).toBeNull()
    }
  })
})

describe.each([
  ['a folder', folderPlace],
  ['a bucket', bucketPlace],
] as const)('a log that lacks lines of its copy in %s', (_, open) => {
  const LINES = 9
  /** Ships a log of one segment, then opens another segment after the change of the first. */
  const shipChanged = async (closed: boolean, change: (path: string, lines: readonly string[]) => void) => {
    const place = open()
    writer.close()
    rmSync(join(log, 'w00'), { recursive: true, force: true })
    writer = openTestSegment(log)
    append(1, LINES)
    if (closed) openTestSegment(log, { clock: manualClock(START_MS + 86_400_000) }).close()
    await shipperOf(place.target).pass()
    const copies = new Map(place.names().map((name) => [name, place.bytes(name)]))
    writer.close()
    const [first = '', ...later] = segmentNames(log)
    for (const name of later) rmSync(join(log, 'w00', name))
    change(join(log, 'w00', first), local(first).toString().split('\n').slice(0, -1))
    writer = openTestSegment(log, { clock: manualClock(START_MS + 172_800_000) })
    append(100, 105)
    return { place, copies, shipper: shipperOf(place.target) }
  }

  test.each([false, true])(
    'does not overwrite the copy, ships other segments and continues elsewhere (closed: %p)',
    async (closed) => {
      for (const kept of range(0, LINES)) {
        const cut = (path: string, lines: readonly string[]): void =>
          writeFileSync(
            path,
            lines
              .slice(0, kept)
              .map((line) => `${line}\n`)
              .join(''),
          )
        const { place, copies, shipper } = await shipChanged(closed, cut)
        for (const pass of [shipper.pass, shipper.pass]) {
          expect(await pass()).toMatchObject({ complete: false, failure: { name: 'CopyDivergedError' } })
        }
        for (const [name, bytes] of copies) expect(place.bytes(name)).toEqual(bytes)
        expect(place.names()).toContain(pieceObject(NODE, 'w00', segmentNames(log).at(-1) ?? '', 0))
        for (const name of place.names()) place.remove(name)
        expect(await shipper.pass()).toEqual({ bytesUnshipped: 0, complete: true, failure: null })
        expect((await verifyNodes(place.target)).nodes[0]?.decisions).toBe(Math.max(0, kept - 1) + 5)
      }
    },
  )

  test('does not overwrite copies after a line and the following hash links were changed', async () => {
    for (const changed of range(1, LINES)) {
      const forge = (path: string, lines: readonly string[]): void => {
        rmSync(path)
        const forged = openTestSegment(log)
        forged.append(
          lines.slice(1).map((line, index) => {
            const { record } = parseRecordLine(line)
            return index + 1 === changed ? { ...record, at: record.at + 1 } : record
          }),
        )
        forged.close()
      }
      const { place, copies, shipper } = await shipChanged(false, forge)
      expect(await shipper.pass()).toMatchObject({ complete: false, failure: { name: 'CopyDivergedError' } })
      for (const [name, bytes] of copies) expect(place.bytes(name)).toEqual(bytes)
    }
  })
})
