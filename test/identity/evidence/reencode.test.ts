// The process that opens strangers' pictures: what it writes, and how it ends when it should not go on.
import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { DocumentInvalidError, EvidenceBusyError } from '../../../src/identity/evidence/errors.ts'
import { createReencoder, type Reencoder, type ReencoderOptions } from '../../../src/identity/evidence/reencode.ts'
import { describeImage, emptyZip, jpeg, jpegWithMetadata, png, webp } from './images.ts'

const decoder = (name: string): string => join(import.meta.dir, 'decoders', `${name}.ts`)
const IMAGE = await jpeg()

let reencoder: Reencoder
const create = (options?: ReencoderOptions): Reencoder => {
  reencoder = createReencoder(options)
  return reencoder
}
afterEach(async () => {
  await reencoder.close()
  expect(reencoder.running()).toBe(0)
})

/** A PNG of any announced size whose pixels are all the same byte, so that it is small however large it becomes. */
const hollowPng = (width: number, height: number): Buffer => {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    check.writeUInt32BE(Bun.hash.crc32(body))
    return Buffer.concat([length, body, check])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0], 8)
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * Math.min(height, 20_000)))
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

describe('a picture written anew', () => {
  test('is a JPEG of the same size, whatever it was', async () => {
    const { reencode } = create()
    for (const image of [IMAGE, await png(), await webp()]) {
      expect(await describeImage(await reencode(image, 'org_a'))).toMatchObject({
        format: 'jpeg',
        width: 40,
        height: 30,
      })
    }
  })

  test('carries nothing of its metadata but has been turned the right way up', async () => {
    const image = await jpegWithMetadata('countersign-canary-place')
    expect(image.includes('countersign-canary-place')).toBe(true)
    const output = Buffer.from(await create().reencode(image, 'org_a'))
    expect(output.includes('countersign-canary-place')).toBe(false)
    expect(await describeImage(output)).toEqual({
      format: 'jpeg',
      width: 30,
      height: 40,
      exif: undefined,
      orientation: undefined,
    })
  })

  test('leaves behind what was glued to it', async () => {
    const polyglot = Buffer.concat([IMAGE, Buffer.from('<script>canary</script>'), emptyZip()])
    const output = Buffer.from(await create().reencode(polyglot, 'org_a'))
    expect(output.includes('canary')).toBe(false)
    expect(output.includes('PK')).toBe(false)
  })

  test('is refused when it is cut off, or no picture at all, or one that was not asked for', async () => {
    const { reencode } = create()
    const gif = await sharp(IMAGE).gif().toBuffer()
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    for (const bytes of [IMAGE.subarray(0, IMAGE.length >> 1), Buffer.from('x'), gif, svg]) {
      await expect(reencode(bytes, 'org_a')).rejects.toBeInstanceOf(DocumentInvalidError)
    }
  })

  test('is refused when it announces more pixels than allowed, also where the first look was fooled', async () => {
    await expect(create().reencode(hollowPng(30_000, 30_000), 'org_a')).rejects.toBeInstanceOf(DocumentInvalidError)
  })
})

describe('a process that opens pictures', () => {
  test('is killed when it takes too long', async () => {
    const { reencode, running } = create({ script: decoder('endless'), timeLimitMs: 300 })
    await expect(reencode(IMAGE, 'org_a')).rejects.toThrow('takes too long')
    expect(running()).toBe(0)
  })

  test.skipIf(process.platform !== 'linux')('gets no more memory than its limit (needs Linux)', async () => {
    const { reencode } = create({ script: decoder('greedy'), memoryLimitBytes: 4 * 2 ** 30 })
    await expect(reencode(IMAGE, 'org_a')).rejects.toThrow('could not open the')
  })

  test('is killed when what it writes does not end', async () => {
    const { reencode } = create({ script: decoder('flood'), outputBytesMax: 2 ** 20 })
    await expect(reencode(IMAGE, 'org_a')).rejects.toThrow('too complex')
  })

  test('that breaks costs its picture and nothing else', async () => {
    const { reencode } = create({ script: decoder('broken') })
    for (let round = 0; round < 2; round++) await expect(reencode(IMAGE, 'org_a')).rejects.toThrow('could not open the')
  })

  test('knows nothing of the service, and gives way to it: no environment, no folder, a lower priority', async () => {
    process.env['COUNTERSIGN_PASSPHRASE'] = 'countersign-canary-secret'
    try {
      const seen = JSON.parse(
        Buffer.from(await create({ script: decoder('environment') }).reencode(IMAGE, 'org_a')).toString(),
      )
      expect(seen.folder).toBe('/')
      expect(seen.priority).toBe(10)
      expect(seen.names.filter((name: string) => name.startsWith('COUNTERSIGN'))).toEqual([])
      expect(seen.names.length).toBeLessThan(8)
    } finally {
      delete process.env['COUNTERSIGN_PASSPHRASE']
    }
  })

  test('is one of few: others wait for their turn, and beyond that are refused at once', async () => {
    const { reencode, running } = create({ processesMax: 1, queueMax: 1 })
    const first = reencode(IMAGE, 'org_a')
    const second = reencode(IMAGE, 'org_a')
    await expect(reencode(IMAGE, 'org_a')).rejects.toBeInstanceOf(EvidenceBusyError)
    expect(running()).toBe(1)
    await Promise.all([first, second])
    await reencode(IMAGE, 'org_a')
  })

  test('opens another organization’s picture before the second that one organization has waiting', async () => {
    const { reencode } = create({ processesMax: 1 })
    const opened: string[] = []
    const open = (organizationId: string) => reencode(IMAGE, organizationId).then(() => opened.push(organizationId))
    await Promise.all(['org_a', 'org_a', 'org_a', 'org_b'].map(open))
    expect(opened).toEqual(['org_a', 'org_b', 'org_a', 'org_a'])
  })

  test('is killed when the service ends, and so are those that wait', async () => {
    const { reencode, close } = create({ script: decoder('endless'), processesMax: 1 })
    const under = [reencode(IMAGE, 'org_a'), reencode(IMAGE, 'org_a')].map((picture) =>
      picture.catch((error: unknown) => error),
    )
    await close()
    for (const outcome of await Promise.all(under)) expect(outcome).toBeInstanceOf(EvidenceBusyError)
  })
})
