// The process that re-encodes uploaded images: its output, and its limits.
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
const reencodeWith = (options: ReencoderOptions) => create(options).reencode(IMAGE, 'org_a')
afterEach(async () => {
  await reencoder.close()
  expect(reencoder.running()).toBe(0)
})

/** A PNG of any declared size whose pixels are all the same, so that the file is small. */
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

describe('a re-encoded image', () => {
  test('is a JPEG of the same size', async () => {
    const { reencode } = create()
    for (const image of [IMAGE, await png(), await webp()]) {
      const output = await describeImage(await reencode(image, 'org_a'))
      expect(output).toMatchObject({ format: 'jpeg', width: 40, height: 30 })
    }
  })

  test('has no metadata, and is rotated upright', async () => {
    const image = await jpegWithMetadata('countersign-canary-place')
    expect(image.includes('countersign-canary-place')).toBe(true)
    const output = Buffer.from(await create().reencode(image, 'org_a'))
    expect(output.includes('countersign-canary-place')).toBe(false)
    const { exif, orientation, ...size } = await describeImage(output)
    expect([size, exif, orientation]).toEqual([{ format: 'jpeg', width: 30, height: 40 }, undefined, undefined])
  })

  test('does not contain trailing bytes of the upload', async () => {
    const polyglot = Buffer.concat([IMAGE, Buffer.from('<script>canary</script>'), emptyZip()])
    const output = Buffer.from(await create().reencode(polyglot, 'org_a'))
    expect([output.includes('canary'), output.includes('PK')]).toEqual([false, false])
  })

  test('is refused if the upload is truncated, not an image, of another format, or has too many pixels', async () => {
    const { reencode } = create()
    const gif = await sharp(IMAGE).gif().toBuffer()
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    const huge = hollowPng(30_000, 30_000)
    for (const bytes of [IMAGE.subarray(0, IMAGE.length >> 1), Buffer.from('x'), gif, svg, huge]) {
      await expect(reencode(bytes, 'org_a')).rejects.toBeInstanceOf(DocumentInvalidError)
    }
  })
})

describe('the decoder process', () => {
  test('is killed after its time limit', async () => {
    await expect(reencodeWith({ script: decoder('endless'), timeLimitMs: 300 })).rejects.toThrow('takes too long')
    expect(reencoder.running()).toBe(0)
  })

  test.skipIf(process.platform !== 'linux')('cannot allocate more memory than its limit (needs Linux)', async () => {
    const attempt = reencodeWith({ script: decoder('greedy'), memoryLimitBytes: 4 * 2 ** 30 })
    await expect(attempt).rejects.toThrow('could not open the')
  })

  test('is killed if its output is too large', async () => {
    const attempt = reencodeWith({ script: decoder('flood'), outputBytesMax: 2 ** 20 })
    await expect(attempt).rejects.toThrow('too complex')
  })

  test('that crashes fails only its image', async () => {
    const { reencode } = create({ script: decoder('broken') })
    for (let round = 0; round < 2; round++) await expect(reencode(IMAGE, 'org_a')).rejects.toThrow('could not open the')
  })

  test('has no environment, an empty folder and a lower priority', async () => {
    process.env['COUNTERSIGN_PASSPHRASE'] = 'countersign-canary-secret'
    try {
      const { folder, priority, names } = JSON.parse(`${await reencodeWith({ script: decoder('environment') })}`)
      expect([folder, priority]).toEqual(['/', 10])
      expect(names.filter((name: string) => name.startsWith('COUNTERSIGN'))).toEqual([])
      expect(names.length).toBeLessThan(8)
    } finally {
      delete process.env['COUNTERSIGN_PASSPHRASE']
    }
  })

  test('is limited in number: other images wait, and beyond the queue they are refused', async () => {
    const { reencode, running } = create({ processesMax: 1, queueMax: 1 })
    const first = reencode(IMAGE, 'org_a')
    const second = reencode(IMAGE, 'org_a')
    await expect(reencode(IMAGE, 'org_a')).rejects.toBeInstanceOf(EvidenceBusyError)
    expect(running()).toBe(1)
    await Promise.all([first, second])
    await reencode(IMAGE, 'org_a')
  })

  test('takes turns between organizations', async () => {
    const { reencode } = create({ processesMax: 1 })
    const opened: string[] = []
    const open = (organizationId: string) => reencode(IMAGE, organizationId).then(() => opened.push(organizationId))
    await Promise.all(['org_a', 'org_a', 'org_a', 'org_b'].map(open))
    expect(opened).toEqual(['org_a', 'org_b', 'org_a', 'org_a'])
  })

  test('is killed at shutdown, and waiting images are refused', async () => {
    const { reencode, close } = create({ script: decoder('endless'), processesMax: 1 })
    const under = [reencode(IMAGE, 'org_a'), reencode(IMAGE, 'org_a')].map((picture) =>
      picture.catch((error: unknown) => error),
    )
    await close()
    for (const outcome of await Promise.all(under)) expect(outcome).toBeInstanceOf(EvidenceBusyError)
  })
})
