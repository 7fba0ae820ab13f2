// Images of invented documents, and images without a zone. specimen.ts drew the three documents of test/data/zones;
// test/long/read-zones.ts reads hundreds of them.
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { createDocumentProcess } from '../../src/identity/evidence/document-process.ts'
import { DocumentInvalidError } from '../../src/identity/evidence/errors.ts'
import { HASHED_SIDE, portraitHash } from '../../src/modules/documents/portrait-hash.ts'
import type { GrayPicture } from '../../src/zone-reader/picture/ink.ts'
import { readZone } from '../../src/zone-reader/picture/read-zone.ts'
import { encodeZone, type ZoneContent } from './encode-zone.ts'
import { randomOf } from './specimen.ts'

const ZONES = join(import.meta.dir, '../data/zones')
const NOW = Date.UTC(2026, 10, 23) / 1000
const ERIKSSON: ZoneContent = {
  format: 'TD3',
  type: 'P',
  issuer: 'UTO',
  nationality: 'UTO',
  number: 'L898902C3',
  surname: 'ERIKSSON',
  givenNames: 'ANNA MARIA',
  birthDate: '740812',
  expiryDate: '340415',
  sex: 'F',
  optional: 'ZE184226B',
}
const PASSPORT = encodeZone(ERIKSSON)
const CARD = encodeZone({
  ...ERIKSSON,
  format: 'TD1',
  type: 'ID',
  issuer: 'D<<',
  nationality: 'D<<',
  number: 'T220001293',
  surname: 'MUSTERMANN',
  givenNames: 'ERIKA',
  optional: '',
})

const imageOf = (name: string): Sharp => sharp(join(ZONES, `${name}.jpg`))

const grayOf = async (picture: Sharp): Promise<GrayPicture> => {
  const { data, info } = await picture.greyscale().raw().toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, pixels: data }
}

const linesOf = async (picture: Sharp): Promise<readonly string[] | string> => {
  const reading = readZone(await grayOf(picture), NOW)
  return reading.kind === 'read' ? reading.decoded.lines : reading.kind
}

describe('a zone is read', () => {
  test.each([0, 90, 180, 270])('from an image that is rotated by %i degrees', async (degrees) => {
    expect(await linesOf(imageOf('passport').rotate(degrees))).toEqual(PASSPORT)
    expect(await linesOf(imageOf('card').rotate(degrees))).toEqual(CARD)
  })

  test('from a dark image, and from one with little contrast', async () => {
    expect(await linesOf(imageOf('passport').linear(0.4, 0))).toEqual(PASSPORT)
    expect(await linesOf(imageOf('passport').linear(0.4, 130))).toEqual(PASSPORT)
  })

  test('correctly or not at all from a partly hidden or blurred image', async () => {
    const { width, height } = await imageOf('passport').metadata()
    const thumb = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><circle cx="600" cy="745" r="60" fill="#caa"/></svg>`,
    )
    const hidden = sharp(
      await imageOf('passport')
        .composite([{ input: thumb }])
        .toBuffer(),
    )
    expect(await linesOf(hidden)).toBeOneOf(['doubtful', 'none'])
    for (const blur of [4, 6, 9])
      expect(await linesOf(imageOf('passport').blur(blur))).toBeOneOf([PASSPORT, 'doubtful', 'none'])
  })

  test('correctly or not at all from a photo of a screen', async () => {
    const { width, height, pixels } = await grayOf(imageOf('passport'))
    for (const pitch of [3, 5, 8]) {
      // Dark lines between the pixels of a screen, seen at a small angle.
      const isBetween = (x: number, y: number): boolean =>
        Math.floor(x + y * 0.03) % pitch === 0 || Math.floor(y + x * 0.03) % pitch === 0
      const seen = pixels.map((value, at) => (isBetween(at % width, Math.floor(at / width)) ? value / 2 : value))
      const reading = readZone({ width, height, pixels: seen }, NOW)
      expect(reading.kind === 'read' ? reading.decoded.lines : reading.kind).toBeOneOf([PASSPORT, 'doubtful', 'none'])
    }
  })

  test('not if an edge turns a U into a 0, which check digits cannot distinguish', async () => {
    expect(await linesOf(imageOf('edge'))).toBe('doubtful')
  })

  test('not from an image without a zone', async () => {
    const random = randomOf(1)
    const noise = { width: 1_000, height: 700, pixels: Uint8Array.from({ length: 700_000 }, () => random() * 256) }
    const plain = { width: 1_000, height: 700, pixels: new Uint8Array(700_000).fill(128) }
    // Bars and dots at one pitch, like a screen or a fabric.
    const weave = {
      ...plain,
      pixels: plain.pixels.map((_, at) => ((at % 1_000) % 20 < 8 && Math.floor(at / 1_000) % 50 < 16 ? 30 : 220)),
    }
    const tiny = { width: 1, height: 1, pixels: new Uint8Array(1) }
    for (const picture of [noise, plain, weave, tiny])
      expect(readZone(picture, NOW).kind).toBeOneOf(['none', 'doubtful'])
  })
})

describe('the reader process', () => {
  const process = createDocumentProcess({
    script: join(import.meta.dir, '../../src/modules/documents/worker/read-picture.process.ts'),
    programArguments: ['zone'],
  })
  afterAll(() => process.close())

  test('returns its reading', async () => {
    const { reading } = JSON.parse(`${Buffer.from(await process.run(await imageOf('passport').toBuffer(), ''))}`)
    const zone = { surname: 'ERIKSSON', birthDate: '1974-08-12' }
    expect(reading.decoded).toMatchObject({ lines: PASSPORT, zone })
    expect(process.running()).toBe(0)
  })

  test('enlarges a small image whose letters touch', async () => {
    const small = imageOf('passport').resize({ width: 380 })
    expect(await linesOf(small.clone())).toBe('none')
    const { reading } = JSON.parse(`${Buffer.from(await process.run(await small.toBuffer(), 'org_a'))}`)
    expect(reading.decoded?.lines).toEqual(PASSPORT)
  })

  test('refuses other files and other image formats', async () => {
    for (const file of [Buffer.from('no image'), await imageOf('card').png().toBuffer()]) {
      await expect(process.run(file, '')).rejects.toBeInstanceOf(DocumentInvalidError)
    }
  })
})

test('a portrait has a similar hash in another size and light, and a different portrait does not', async () => {
  const faceOf = (seed: number): Sharp => {
    const random = randomOf(seed)
    const spots = Array.from({ length: 12 }, () => {
      const gray = Math.floor(random() * 255)
      return `<ellipse cx="${random() * 400}" cy="${random() * 500}" rx="${20 + random() * 90}" ry="${20 + random() * 90}" fill="rgb(${gray},${gray},${gray})"/>`
    })
    return sharp(
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="400" height="500">${spots.join('')}</svg>`),
    ).flatten({ background: '#bbb' })
  }
  const hashOf = async (picture: Sharp): Promise<bigint> => {
    const size = { width: HASHED_SIDE, height: HASHED_SIDE, fit: 'fill' } as const
    const jpeg = await picture.jpeg({ quality: 60 }).toBuffer()
    return BigInt(`0x${portraitHash(await sharp(jpeg).resize(size).greyscale().raw().toBuffer())}`)
  }
  const apart = (one: bigint, other: bigint): number => (one ^ other).toString(2).replaceAll('0', '').length
  const hashes = await Promise.all([1, 2, 3, 4, 5].map((seed) => hashOf(faceOf(seed))))
  for (const [index, hash] of hashes.entries()) {
    const png = await faceOf(index + 1)
      .png()
      .toBuffer()
    for (const other of [sharp(png).resize(250), sharp(png).linear(0.8, 20), sharp(png).blur(2)]) {
      expect(apart(hash, await hashOf(other))).toBeLessThanOrEqual(5)
    }
    for (const other of hashes) if (other !== hash) expect(apart(hash, other)).toBeGreaterThan(10)
  }
})
